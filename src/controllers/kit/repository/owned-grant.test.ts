import { describe, expect, test } from 'vitest'
import type { RemoteSync } from '../../../api/apps/remote-sync.ts'
import type { RepositoryFollower } from '../../../api/capabilities/repository-follower.ts'
import type { RepositoryGrant } from '../../../api/github/repository-grant.ts'
import type { Condition } from '../../../api/resource.ts'
import { endpointsOf } from '../../../github/index.ts'
import { SecretString } from '../../../lib/secret-string.ts'
import type { DeliveredToken, TokenRequest } from '../../../services/token-desk/token-desk.ts'
import { accessOnce, desiredOwnedGrant, ownedGrantName, planOwnedGrant } from './owned-grant.ts'

const now = new Date('2026-01-01T12:00:00.500Z')

function owner(spec: Partial<RemoteSync['spec']> = {}, name = 'shop'): RemoteSync {
  return {
    apiVersion: 'apps.sekisho.dev/v1alpha1',
    kind: 'RemoteSync',
    metadata: { name, namespace: 'acme', uid: 'uid-1', generation: 1 },
    spec: {
      installation: 'github',
      repository: 'acme/shop',
      source: { branch: 'main' },
      build: { strategy: 'Buildpacks', timeoutSeconds: 600 },
      application: 'shop',
      requestedBy: 'github|github.com|1',
      ...spec,
    },
  }
}

const pipeline: RepositoryFollower = { ...owner(), kind: 'AppPipeline' }
const desired = desiredOwnedGrant(owner())

const condition = (type: string, status: 'True' | 'False', reason = 'Test', message = 'a message'): Condition => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: '2026-01-01T00:00:00Z',
  observedGeneration: 1,
})

function grant(changes: Partial<RepositoryGrant> = {}): RepositoryGrant {
  return {
    ...desired,
    metadata: { ...desired.metadata, uid: 'uid-g', generation: 1 },
    status: { observedGeneration: 1, decision: 'Approved', conditions: [condition('Ready', 'True')] },
    ...changes,
  }
}

describe('the owned grant', () => {
  test('requests reading one repository, in the name of the requester', () => {
    expect(desired).toEqual({
      apiVersion: 'github.sekisho.dev/v1alpha1',
      kind: 'RepositoryGrant',
      metadata: {
        name: 'remotesync-shop',
        namespace: 'acme',
        ownerReferences: [
          { apiVersion: 'apps.sekisho.dev/v1alpha1', kind: 'RemoteSync', name: 'shop', uid: 'uid-1', controller: true },
        ],
      },
      spec: {
        installation: 'github',
        repositories: ['acme/shop'],
        permissions: { contents: 'read', metadata: 'read' },
        subjects: [{ kind: 'RemoteSync', name: 'shop' }],
        delivery: 'TokenEndpoint',
        lifetimeSeconds: 2_592_000,
        reason: 'RemoteSync shop builds Application shop',
        requestedBy: 'github|github.com|1',
      },
    })
  })

  test('requests what the kind needs besides', () => {
    expect(desiredOwnedGrant(owner({ source: { pullRequest: 3 } })).spec.permissions).toEqual({
      contents: 'read',
      metadata: 'read',
      pull_requests: 'read',
    })
  })

  test('has a name that fits and contains the kind', () => {
    expect(ownedGrantName(pipeline)).toBe('apppipeline-shop')
    const [one, other] = ['x', 'y'].map(end => ownedGrantName(owner({}, `${'x'.repeat(252)}${end}`)))
    expect(one).toHaveLength(253)
    expect(one).not.toBe(other)
  })

  test('does not exist for a kind that does not follow a repository', () => {
    expect(() => desiredOwnedGrant({ ...owner(), kind: 'Application' })).toThrow(
      'Application is not a kind that follows a repository',
    )
  })
})

describe('the plan', () => {
  const other = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'x', controller: true }
  const status = grant().status
  const denied = {
    ...status,
    decision: 'Denied' as const,
    conditions: [condition('Approved', 'False', 'DeniedByPolicy', 'no access')],
  }

  test.each<[string, RepositoryGrant | undefined, object]>([
    ['no grant', undefined, { kind: 'create', desired, reason: 'WaitingForGrant' }],
    ['approved and ready', grant(), { kind: 'use' }],
    [
      'of another object',
      grant({ metadata: { ...grant().metadata, ownerReferences: [other] } }),
      { kind: 'wait', reason: 'GrantConflict', message: expect.stringContaining('does not belong to this RemoteSync') },
    ],
    [
      'without an owner',
      grant({ metadata: { ...grant().metadata, ownerReferences: [] } }),
      { kind: 'wait', reason: 'GrantConflict' },
    ],
    [
      'with another spec',
      grant({ spec: { ...desired.spec, requestedBy: 'github|github.com|2' } }),
      { kind: 'replace', uid: 'uid-g' },
    ],
    ['that expires within an hour', grant({ status: { ...status, expiresAt: '2026-01-01T12:30:00Z' } }), { kind: 'replace' }],
    ['that expires later', grant({ status: { ...status, expiresAt: '2026-01-01T13:30:00Z' } }), { kind: 'use' }],
    ['expired', grant({ status: { ...status, conditions: [condition('Ready', 'False', 'Expired')] } }), { kind: 'replace' }],
    [
      'being deleted',
      grant({ metadata: { ...grant().metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }),
      { kind: 'wait', reason: 'WaitingForGrant', message: 'RepositoryGrant remotesync-shop is being replaced' },
    ],
    ['denied', grant({ status: denied }), { kind: 'wait', reason: 'GrantDenied', message: 'remotesync-shop: no access' }],
    ['not decided', grant({ status: {} }), { kind: 'wait', reason: 'WaitingForGrant' }],
    [
      'decided for an older spec',
      grant({ metadata: { ...grant().metadata, generation: 2 } }),
      { kind: 'wait', reason: 'WaitingForGrant' },
    ],
    [
      'approved but not ready',
      grant({ status: { ...status, conditions: [condition('Ready', 'False')] } }),
      { kind: 'wait', reason: 'WaitingForGrant' },
    ],
  ])('%s', (_what, found, plan) => {
    expect(planOwnedGrant(owner(), found, now)).toMatchObject(plan)
  })
})

describe('a repository that was renamed', () => {
  const following = (name: string, requested = 'acme/shop'): RemoteSync => ({
    ...owner(),
    status: { repository: { id: 7, name, requested } },
  })
  const approvedFor = (id: number, name: string, named = 'acme/shop') =>
    grant({
      spec: { ...desired.spec, repositories: [named] },
      status: { ...grant().status, repositories: [{ id, name }] },
    })

  test('keeps the grant that was approved for it under its old name', () => {
    expect(planOwnedGrant(following('new/shop'), approvedFor(7, 'new/shop'), now)).toMatchObject({ kind: 'use' })
  })

  test('is named by its present name in the next grant', () => {
    expect(desiredOwnedGrant(following('new/shop')).spec.repositories).toEqual(['new/shop'])
    expect(desiredOwnedGrant(following('new/shop', 'acme/other')).spec.repositories).toEqual(['acme/shop'])
  })

  test('gives way to a grant under its present name when the old name leads nowhere', () => {
    const denied = grant({ status: { ...grant().status, decision: 'Denied' } })
    expect(planOwnedGrant(following('new/shop'), denied, now)).toMatchObject({ kind: 'replace' })
  })

  test('is not replaced by the repository that took its name', () => {
    const plan = planOwnedGrant(following('acme/shop'), approvedFor(8, 'acme/shop'), now)
    expect(plan).toMatchObject({ kind: 'wait', reason: 'RepositoryReplaced', message: expect.stringContaining('(id 8)') })
  })

  test('gets a new name when spec.repository changes', () => {
    const renamed = { ...following('acme/shop', 'acme/old') }
    expect(planOwnedGrant(renamed, approvedFor(8, 'acme/shop'), now)).toMatchObject({ kind: 'use' })
  })
})

describe('access to the repository', () => {
  const endpoints = { host: 'github.com', web: 'https://github.com', api: 'https://api.github.com' }

  function access(repositories: DeliveredToken['repositories']) {
    const requests: TokenRequest[] = []
    const deps = {
      endpointsOf: async () => endpoints,
      tokens: {
        async request(request: TokenRequest): Promise<DeliveredToken> {
          requests.push(request)
          const endpoints = endpointsOf({ host: 'github.com' })
          return {
            ...{ token: new SecretString('t'), mintedAt: now, expiresAt: now, renewFrom: now, repositories },
            ...{ permissions: {}, endpoints },
          }
        },
      },
    }
    return { requests, open: accessOnce(deps, { owner: pipeline, grant: grant(), app: 'a', actor: 'sekisho:test' }) }
  }

  test('requests one token, with the owner as its subject, whatever its kind', async () => {
    const { open, requests } = access([{ id: 7, fullName: 'acme/shop' }])
    expect(requests).toEqual([])
    expect(await open()).toMatchObject({ endpoints, repository: { id: 7, fullName: 'acme/shop' } })
    await open()
    const subject = { kind: 'AppPipeline', namespace: 'acme', name: 'shop', uid: 'uid-1' }
    expect(requests).toMatchObject([{ subject, actor: 'sekisho:test', grant: { metadata: { uid: 'uid-g' } } }])
  })

  test.each<[string, DeliveredToken['repositories']]>([
    ['no repository', []],
    [
      'two repositories',
      [
        { id: 7, fullName: 'acme/shop' },
        { id: 8, fullName: 'acme/other' },
      ],
    ],
  ])('refuses a token for %s', async (_what, repositories) => {
    await expect(access(repositories).open()).rejects.toMatchObject({ code: 'integrity_violation' })
  })
})
