// Objects for tests of the token desk: an approved grant with changes, a ready Installation and a subject. Test code only.
import type { Installation } from '../../../api/github/installation.ts'
import type { RepositoryGrant } from '../../../api/github/repository-grant.ts'
import type { Condition } from '../../../api/resource.ts'
import type { TokenSubject } from '../../../store/token-registry.ts'

export const host = 'github.localhost'

/** A Ready condition of that generation. */
export function ready(status: 'True' | 'False' = 'True', observedGeneration = 1): Condition {
  return { type: 'Ready', status, reason: 'Test', message: '', lastTransitionTime: '2026-01-01T00:00:00Z', observedGeneration }
}

/** Ready, with a ceiling of two repositories. */
export const installationObject: Installation = {
  apiVersion: 'github.sekisho.dev/v1alpha1',
  kind: 'Installation',
  metadata: { name: 'github', namespace: 'acme', uid: 'installation-uid', generation: 1 },
  spec: {
    app: 'sekisho',
    installationId: 77,
    account: { host, id: 2001, login: 'acme', type: 'Organization' },
    boundBy: { id: 1001, login: 'olivia' },
    proof: { method: 'OrganizationOwner', provedAt: '2026-01-01T00:00:00Z' },
    ceiling: { repositories: 'Selected', repositoryIds: [4001, 4002], permissions: { contents: 'write', statuses: 'write' } },
  },
  status: { observedGeneration: 1, conditions: [ready()] },
}

/** Approved and ready, with the given changes. */
export function grantObject(
  change: {
    readonly name?: string
    readonly metadata?: Partial<RepositoryGrant['metadata']>
    readonly spec?: Partial<RepositoryGrant['spec']>
    readonly status?: Partial<NonNullable<RepositoryGrant['status']>>
  } = {},
): RepositoryGrant {
  const name = change.name ?? 'read-shop'
  return {
    apiVersion: 'github.sekisho.dev/v1alpha1',
    kind: 'RepositoryGrant',
    metadata: { name, namespace: 'acme', uid: `${name}-uid`, generation: 1, ...change.metadata },
    spec: {
      installation: 'github',
      repositories: ['acme/shop'],
      permissions: { contents: 'read' },
      subjects: [
        { kind: 'ServiceAccount', name: 'runner' },
        { kind: 'RemoteSync', name: 'shop' },
      ],
      delivery: 'TokenEndpoint',
      lifetimeSeconds: 86_400,
      reason: 'the runner reads the shop',
      requestedBy: `github|${host}|1002`,
      ...change.spec,
    },
    status: {
      observedGeneration: 1,
      decision: 'Approved',
      rule: 'read-contents',
      expiresAt: '2036-01-01T00:00:00.000Z',
      repositories: [{ id: 4001, name: 'acme/shop' }],
      conditions: [ready()],
      ...change.status,
    },
  }
}

export const runner: TokenSubject = { kind: 'ServiceAccount', namespace: 'acme', name: 'runner', uid: 'runner-uid' }
