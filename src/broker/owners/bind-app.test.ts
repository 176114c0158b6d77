import { expect, test } from 'vitest'
import type { Installation } from '../../api/github/installation.ts'
import { desiredSibling, siblingCeiling, siblingName } from './bind-app.ts'

const installationObject: Installation = {
  apiVersion: 'github.sekisho.dev/v1alpha1',
  kind: 'Installation',
  metadata: { name: 'github', namespace: 'acme' },
  spec: {
    app: 'sekisho',
    installationId: 77,
    account: { host: 'github.test', id: 2001, login: 'acme', type: 'Organization' },
    boundBy: { id: 1001, login: 'olivia' },
    proof: { method: 'OrganizationOwner', provedAt: '2026-01-01T00:00:00Z' },
    ceiling: { repositories: 'Selected', repositoryIds: [4001], permissions: { contents: 'write', statuses: 'write' } },
  },
}

const found = { app: 'second', installationId: 88, permissions: { contents: 'read', administration: 'write', statuses: 'admin' } }

test('the ceiling of a sibling is within that of the account and within what GitHub gives its App', () => {
  const { ceiling } = installationObject.spec
  expect(siblingCeiling(ceiling, found.permissions)).toEqual({ ...ceiling, permissions: { contents: 'read', statuses: 'write' } })
  expect(siblingCeiling(ceiling, { contents: 'all', metadata: 'read' }).permissions).toEqual({})
})

test('the account and the person are those of the proof, whatever the first Installation says', () => {
  const { spec } = installationObject
  const account = { ...spec.account, login: 'renamed' }
  const intent = { ...spec, account, boundBy: { id: 1002, login: 'dave' }, teams: [] }
  const sibling = desiredSibling(installationObject, found, intent)
  expect(sibling.metadata).toEqual({ name: 'github-second', namespace: 'acme' })
  expect(sibling.spec).toMatchObject({ app: 'second', installationId: 88, account, boundBy: { id: 1002 } })
  expect(siblingName('x'.repeat(100))).toHaveLength(63)
})
