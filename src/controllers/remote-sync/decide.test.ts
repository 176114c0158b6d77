// The pure parts of a RemoteSync: checks, grant, wake, build plan, conditions. What they do together is in test/integration.
import { describe, expect, test } from 'vitest'
import type { RemoteSync } from '../../api/apps/remote-sync.ts'
import type { RepositoryGrant } from '../../api/github/repository-grant.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'
import { AppError } from '../../lib/errors.ts'
import { stopOf } from './access.ts'
import { buildName, planBuild } from './build-plan.ts'
import { decide } from './decide.ts'
import type { Facts } from './gather.ts'
import { desiredGrant, grantName, planGrant } from './grant.ts'
import { stop } from './progress.ts'
import { nextStatus } from './status.ts'
import { isNewWake, mustResolve, signalledAt } from './wake.ts'

const now = new Date('2026-01-01T12:00:00.500Z')

function sync(spec: Partial<RemoteSync['spec']> = {}, changes: Partial<Omit<RemoteSync, 'spec'>> = {}): RemoteSync {
  return {
    apiVersion: 'apps.sekisho.dev/v1alpha1',
    kind: 'RemoteSync',
    metadata: { name: 'shop', namespace: 'acme', uid: 'uid-1', generation: 1, creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: {
      installation: 'github',
      repository: 'acme/shop',
      source: { branch: 'main' },
      build: { strategy: 'Buildpacks', timeoutSeconds: 600 },
      application: 'shop',
      requestedBy: 'github|github.com|1',
      ...spec,
    },
    ...changes,
  }
}

const condition = (type: string, status: 'True' | 'False', reason = 'Test', message = 'told') => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: '2026-01-01T00:00:00Z',
  observedGeneration: 1,
})

describe('checks', () => {
  const account = { host: 'github.com', id: 1, login: 'acme', type: 'Organization' as const }
  const tenant: Tenant = {
    apiVersion: 'tenancy.sekisho.dev/v1alpha1',
    kind: 'Tenant',
    metadata: { name: 'acme' },
    spec: { account, namespace: 'acme', roles: [] },
    status: { buildNamespace: 'acme-build' },
  }
  const installation: NonNullable<Facts['installation']> = {
    apiVersion: 'github.sekisho.dev/v1alpha1',
    kind: 'Installation',
    metadata: { name: 'github' },
    spec: {
      app: 'a',
      installationId: 1,
      account,
      boundBy: { id: 1, login: 'a' },
      proof: { method: 'OrganizationOwner', provedAt: '2026-01-01T00:00:00Z' },
      ceiling: { repositories: 'All', permissions: {} },
    },
    status: { conditions: [condition('Ready', 'True')] },
  }
  const good: Facts = { remoteSync: sync(), tenant, installation, grant: undefined, application: undefined, rivals: [] }
  const older = sync({}, { metadata: { ...sync().metadata, name: 'older', uid: 'uid-0' } })

  test('pass when nothing stands against it', () => {
    expect(decide(good)).toBeUndefined()
  })

  test.each<[string, Partial<Facts>, string]>([
    ['no tenant', { tenant: undefined }, 'NotATenantNamespace'],
    ['an older RemoteSync with the same Application', { rivals: [older] }, 'ApplicationTaken'],
    ['no installation', { installation: undefined }, 'InstallationNotReady'],
    [
      'a suspended installation',
      { installation: { ...installation, status: { conditions: [condition('Ready', 'False')] } } },
      'InstallationNotReady',
    ],
  ])('%s stops it', (_what, changes, reason) => {
    expect(decide({ ...good, ...changes })).toMatchObject({ stage: 'Resolved', reason })
  })

  test('a younger RemoteSync does not', () => {
    const younger = sync({}, { metadata: { ...sync().metadata, name: 'younger', uid: 'uid-2' } })
    expect(decide({ ...good, rivals: [younger] })).toBeUndefined()
  })
})

describe('grant', () => {
  const desired = desiredGrant(sync())
  function grant(changes: Partial<RepositoryGrant> = {}): RepositoryGrant {
    return {
      ...desired,
      metadata: { ...desired.metadata, uid: 'uid-g', generation: 1 },
      status: { observedGeneration: 1, decision: 'Approved', conditions: [condition('Ready', 'True')] },
      ...changes,
    }
  }

  test('asks for reading one repository in the requester’s name; for pull requests only when one is followed', () => {
    expect(desired.spec).toMatchObject({
      repositories: ['acme/shop'],
      permissions: { contents: 'read', metadata: 'read' },
      subjects: [{ kind: 'RemoteSync', name: 'shop' }],
      requestedBy: 'github|github.com|1',
    })
    expect(desiredGrant(sync({ source: { pullRequest: 3 } })).spec.permissions).toHaveProperty('pull_requests', 'read')
  })

  test('has a name that fits', () => {
    expect(grantName(sync())).toBe('remotesync-shop')
    const long = sync({}, { metadata: { ...sync().metadata, name: 'x'.repeat(253) } })
    expect(grantName(long)).toHaveLength(253 - 13 + 13)
  })

  const other = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'x', controller: true }
  test.each<[string, RepositoryGrant | undefined, object]>([
    ['none', undefined, { kind: 'create' }],
    ['approved', grant(), { kind: 'use' }],
    ['of somebody else', grant({ metadata: { ...grant().metadata, ownerReferences: [other] } }), { reason: 'GrantConflict' }],
    [
      'with another spec',
      grant({ spec: { ...desired.spec, requestedBy: 'github|github.com|2' } }),
      { kind: 'replace', uid: 'uid-g' },
    ],
    ['soon over', grant({ status: { ...grant().status, expiresAt: '2026-01-01T12:30:00Z' } }), { kind: 'replace' }],
    ['over', grant({ status: { ...grant().status, conditions: [condition('Ready', 'False', 'Expired')] } }), { kind: 'replace' }],
    [
      'being deleted',
      grant({ metadata: { ...grant().metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }),
      { reason: 'WaitingForGrant' },
    ],
    ['denied', grant({ status: { ...grant().status, decision: 'Denied' } }), { reason: 'GrantDenied' }],
    ['not decided', grant({ status: {} }), { reason: 'WaitingForGrant' }],
    [
      'approved but not ready',
      grant({ status: { ...grant().status, conditions: [condition('Ready', 'False')] } }),
      { reason: 'WaitingForGrant' },
    ],
  ])('%s', (_what, there, plan) => {
    expect(planGrant(sync(), there, now)).toMatchObject(plan)
  })
})

describe('wake', () => {
  const minutes = (count: number): number => now.getTime() - count * 60_000
  const known = sync({}, { status: { commit: 'a'.repeat(40), observedGeneration: 1, handledWake: 'old' } })
  function woken(value: string): RemoteSync {
    return { ...known, metadata: { ...known.metadata, annotations: { 'sekisho.dev/wake': value } } }
  }

  test('GitHub is asked for a new object, a new spec, a new wake, after a restart and by the sweep, and else not', () => {
    const sweep = 300_000
    expect(mustResolve(sync(), minutes(1), now, sweep)).toBe(true)
    expect(mustResolve({ ...known, metadata: { ...known.metadata, generation: 2 } }, minutes(1), now, sweep)).toBe(true)
    expect(mustResolve(woken('new'), minutes(1), now, sweep)).toBe(true)
    expect(mustResolve(known, undefined, now, sweep)).toBe(true)
    expect(mustResolve(known, minutes(5), now, sweep)).toBe(true)
    expect(mustResolve(known, minutes(1), now, sweep)).toBe(false)
    expect(mustResolve(woken('old'), minutes(1), now, sweep)).toBe(false)
    expect(mustResolve({ ...woken('new'), spec: sync({ source: { commit: 'a'.repeat(40) } }).spec }, undefined, now, sweep)).toBe(
      false,
    )
  })

  test('the signal is as old as the webhook says, never of the future, and now when nobody says', () => {
    expect(signalledAt(woken('2026-01-01T11:59:59.250Z/delivery-1'), now)).toBe('2026-01-01T11:59:59.250Z')
    for (const value of ['2030-01-01T00:00:00Z/x', 'nonsense', '2026-13-99T00:00:00Z/x'])
      expect(signalledAt(woken(value), now)).toBe(now.toISOString())
    expect(signalledAt(known, now)).toBe(now.toISOString())
    expect(isNewWake(woken('x'.repeat(5000)))).toBe(true)
  })
})

describe('build plan', () => {
  const commit = 'a'.repeat(40)
  const first = buildName(sync(), commit, 1)

  test('the name follows from what is built, and fits a pod', () => {
    expect(first).toMatch(/^shop-[0-9a-f]{12}$/)
    expect(buildName(sync(), commit, 1)).toBe(first)
    const others = [
      buildName(sync(), 'b'.repeat(40), 1),
      buildName(sync(), commit, 2),
      buildName(sync({ subPath: 'web' }), commit, 1),
      buildName(sync({ build: { ...sync().spec.build, env: [{ name: 'A', value: '1' }] } }), commit, 1),
    ]
    expect(new Set([first, ...others]).size).toBe(5)
    const long = sync({}, { metadata: { ...sync().metadata, name: `${'x'.repeat(29)}.-.${'y'.repeat(200)}` } })
    expect(buildName(long, commit, 1)).toMatch(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/)
    expect(buildName(long, commit, 1).length).toBeLessThanOrEqual(53)
  })

  const build = { name: first, commit, attempt: 1 }
  test.each<[string, RemoteSync['status'], boolean, object]>([
    ['a new commit is built', {}, false, { state: 'wanted', attempt: 1, name: first }],
    ['a built commit is not built again, also when woken', { build, image: 'i', imageBuild: first }, true, { state: 'built' }],
    ['a failed commit rests', { build, failedCommit: commit }, false, { state: 'failed' }],
    [
      'a failed commit is tried again when something changed',
      { build, failedCommit: commit },
      true,
      { state: 'wanted', attempt: 2 },
    ],
    [
      'another commit’s failure does not count',
      { build: { ...build, commit: 'b' }, failedCommit: 'b' },
      false,
      { state: 'wanted', attempt: 1 },
    ],
    ['an image of other inputs does not count', { build, image: 'i', imageBuild: 'shop-other' }, false, { state: 'wanted' }],
  ])('%s', (_what, status, retry, plan) => {
    expect(planBuild(sync(), status ?? {}, commit, retry)).toMatchObject(plan)
  })
})

describe('status', () => {
  const states = (status: ReturnType<typeof nextStatus>) =>
    Object.fromEntries((status.conditions ?? []).map(item => [item.type, `${item.status} ${item.reason}`]))

  test('is True up to where it stopped and False from there on, for that reason', () => {
    expect(states(nextStatus(sync(), {}, stop('Built', 'BuildFailed', 'x'), now))).toEqual({
      Resolved: 'True Done',
      Fetched: 'True Done',
      Built: 'False BuildFailed',
      Deployed: 'False BuildFailed',
      Ready: 'False BuildFailed',
    })
    expect(states(nextStatus(sync(), {}, stop('Ready', 'RollingOut', 'x'), now))).toMatchObject({
      Deployed: 'True Done',
      Ready: 'False RollingOut',
    })
    expect(states(nextStatus(sync(), {}, undefined, now))).toMatchObject({ Deployed: 'True Done', Ready: 'True Deployed' })
  })

  test('says that the version before keeps serving when there is one', () => {
    const message = (image?: string) =>
      nextStatus(sync(), image === undefined ? {} : { image }, stop('Built', 'BuildFailed', 'x'), now).conditions?.[3]?.message
    expect(message('i')).toContain('keeps serving')
    expect(message()).not.toContain('keeps serving')
  })

  test('the same twice is the same', () => {
    const once = nextStatus(sync(), {}, undefined, now)
    expect(nextStatus(sync({}, { status: once }), once, undefined, new Date(now.getTime() + 60_000))).toEqual(once)
  })
})

describe('refusals', () => {
  test('that can never pass wait for a change, others are tried again, waits that GitHub names are kept', () => {
    const large = stopOf('Fetched', new AppError('upstream_failed', 'large', { reason: 'SourceTooLarge' }))
    expect(large).toMatchObject({ reason: 'SourceTooLarge' })
    expect(large).not.toHaveProperty('error')
    expect(stopOf('Resolved', new AppError('too_many_requests', 'slow', { retryAfterSeconds: 7 }))).toMatchObject({
      reason: 'GitHubUnreachable',
      afterMilliseconds: 7000,
    })
    const refused = new AppError('forbidden', 'the grant was revoked')
    expect(stopOf('Resolved', refused)).toMatchObject({ reason: 'WaitingForGrant', error: refused })
    expect(stopOf('Fetched', new AppError('unavailable', 'x', { reason: 'FetchFailed' }))).toMatchObject({
      reason: 'FetchFailed',
    })
    expect(() => stopOf('Resolved', new TypeError('a mistake of ours'))).toThrow(TypeError)
  })
})
