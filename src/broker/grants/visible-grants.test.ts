// Who may answer on the page: as the API server lets a person, platform admins included.
import { expect, test } from 'vitest'
import type { AccessQuestion } from '../people/access-reviews.ts'
import { createVisibleGrants } from './visible-grants.ts'

const said = ({ verb, resource, namespace }: AccessQuestion) => `${verb} ${resource} ${namespace ?? '*'}`
const [creates, administers, approves] = [
  'create grantapprovals acme',
  'administer platforms *',
  'approve repositorygrants acme',
] as const

test.each<[string, readonly string[], boolean]>([
  ['an admin of the tenant', [creates, approves], true],
  ['somebody whom an administrator gave the right to create answers', [creates], true],
  ['a platform admin, who creates answers for break-glass', [creates, administers], false],
  ['a platform admin who is an admin of the tenant, too', [creates, administers, approves], true],
  ['a developer', [], false],
  ['somebody who may approve, and create no answer', [approves], false],
])('%s', async (_who, rights, may) => {
  const grants = createVisibleGrants({
    reviews: { allows: async (_identity, question) => rights.includes(said(question)) },
    grants: { get: () => undefined, list: () => [] },
    kube: { snapshot: () => Promise.reject(new Error('no answers are asked for')) },
    people: { loginOf: async () => undefined },
  })
  const identity = { subject: 'github|github.com|1', groups: [] } as never
  expect(await grants.mayAnswer(identity, 'acme')).toBe(may)
})
