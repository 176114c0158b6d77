import { expect, test } from 'vitest'
import type { Installation } from '../../api/github/installation.ts'
import { KubeError } from '../../kube/client/errors.ts'
import { type BindAppDeps, bindApp, desiredSibling, siblingCeiling, siblingName } from './bind-app.ts'

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

const person = { host: 'github.test', userId: 1001, login: 'olivia', subject: 'github|github.test|1001', csrf: '' }
const named: Installation = {
  ...installationObject,
  metadata: { ...installationObject.metadata, uid: 'named' },
  status: { otherApps: [found] },
}

/** What happens when olivia, who owns acme, binds the second App; `present` is the named Installation in the API server. */
async function bound(change: { readonly present?: Installation; readonly mayOnboard?: boolean; readonly refusal?: number } = {}) {
  const steps: string[] = []
  const account = { id: 2001, login: 'acme', type: 'Organization' }
  const facts = {
    id: 77,
    appId: 1,
    account,
    repositorySelection: 'all',
    suspendedAt: undefined,
    permissions: { contents: 'write' },
  }
  const client = {
    installations: async () => [facts],
    organizationMembership: async () => ({ state: 'active', role: 'admin', organizationId: 2001, userId: 1001 }),
  }
  const deps = {
    github: { app: () => ({ name: 'sekisho', appId: 1, endpoints: { host: 'github.test' } }) },
    people: { userClient: async () => client },
    haltOf: () => undefined,
    mayOnboard: () => change.mayOnboard ?? true,
    clock: { now: () => new Date(0) },
    audit: { append: async ({ action }: { readonly action: string }) => steps.push(action) },
    kube: {
      get: async (_: unknown, { name }: { readonly name: string }) => (name === 'github' ? (change.present ?? named) : undefined),
      create: async (_: unknown, __: unknown, { dryRun }: { readonly dryRun: boolean }) => {
        steps.push(dryRun ? 'asked' : 'created')
        if (change.refusal !== undefined) throw new KubeError('refused', { status: change.refusal, reason: 'Refused' })
      },
    },
  } as unknown as BindAppDeps
  const failure = await bindApp(deps, person as never, named, 'second').then(
    () => undefined,
    (error: { readonly code: string; readonly message: string }) => error,
  )
  return { steps, code: failure?.code, message: failure?.message }
}

test('the log has it before it is made, and nothing of what the API server refuses or has already', async () => {
  expect(await bound()).toEqual({ steps: ['asked', 'installation.added', 'created'] })
  expect(await bound({ refusal: 409 })).toEqual({ steps: ['asked'] })
  expect(await bound({ refusal: 403 })).toMatchObject({ steps: ['asked'], code: 'unavailable' })
})

test('nothing is made under a binding that ends or is another one, nor for an account that may not be onboarded', async () => {
  const { metadata } = named
  for (const changed of [{ deletionTimestamp: '2026-01-01T00:00:00Z' }, { uid: 'another' }])
    expect(await bound({ present: { ...named, metadata: { ...metadata, ...changed } } })).toMatchObject({
      steps: [],
      code: 'conflict',
    })
  expect(await bound({ mayOnboard: false })).toMatchObject({ steps: [], code: 'forbidden' })
})
