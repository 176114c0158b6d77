// What the broker may change of an Installation. The rule of the kind refuses most of it before admission is asked; the attack
// matrix has the rest.
import { expect, test } from 'vitest'
import { installation } from '../../../api/github/installation.ts'
import { platformIdentities } from '../../identities.ts'
import type { AdmissionRequest } from '../../review.ts'
import { installationWriters } from './installation-writers.ts'

const bound = {
  metadata: { name: 'github', labels: { a: 'b' }, finalizers: ['sekisho.dev/installation'] },
  spec: {
    app: 'main',
    installationId: 7,
    account: { id: 2001 },
    boundBy: { id: 1001 },
    proof: { method: 'OrganizationOwner' },
    ceiling: { repositories: 'All' },
  },
}

/** What is said to the broker of the production form about that change. */
function answered(change: { readonly metadata?: object; readonly spec?: object }): string | undefined {
  const object = { metadata: { ...bound.metadata, ...change.metadata }, spec: { ...bound.spec, ...change.spec } }
  const request: AdmissionRequest = {
    ...{ uid: 'u', operation: 'UPDATE', group: installation.group, resource: installation.plural, subResource: undefined },
    ...{ namespace: 'acme', username: 'system:serviceaccount:sekisho-system:sekisho-broker', login: undefined },
    object,
    oldObject: bound,
  }
  return installationWriters.check(request, platformIdentities)
}

test('the broker changes annotations and who stands in', () => {
  expect(answered({ metadata: { annotations: { 'sekisho.dev/wake': 'x' } }, spec: { standIns: [{ id: 1 }] } })).toBeUndefined()
})

test.each([
  ...Object.keys(bound.spec).map(name => ({ spec: { [name]: 'other', standIns: [] } })),
  { spec: { ceiling: undefined } },
  ...['labels', 'ownerReferences', 'finalizers'].map(name => ({ metadata: { [name]: ['other'] } })),
])('the broker leaves what was bound as it is: %j', change => {
  expect(answered(change)).toContain('what was bound stays as it was')
})
