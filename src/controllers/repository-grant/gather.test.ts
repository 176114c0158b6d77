// When GitHub is asked about a grant: on a changed input and on a schedule while it is approved; never about a denied grant at
// rest.
import { expect, test } from 'vitest'
import type { Installation } from '../../api/github/installation.ts'
import type { RepositoryGrant } from '../../api/github/repository-grant.ts'
import { wakeAnnotation } from '../../api/names.ts'
import { AppError } from '../../lib/errors.ts'
import { createFakeClock } from '../../lib/testing/fake-clock.ts'
import { silentLog } from '../../lib/testing/silent-log.ts'
import { type GrantPolicies, noGrantPolicies } from '../../policy/grants/grant-policies.ts'
import { grantObject, installationObject } from '../../services/token-desk/testing/desk-objects.ts'
import { decisionInputs, defaultRecheckTimes, spreadOfGrant } from './decision-inputs.ts'
import { type GatherDeps, gather } from './gather.ts'

const hour = 3_600_000
const day = 24 * hour

type State = {
  readonly installation?: Installation
  readonly inUse?: boolean | 'unknown'
  readonly policies?: GrantPolicies
}

/** Whether GitHub would be asked: the App cannot be opened here, so an attempt shows as `unreachable`. */
async function isAsked(
  grant: RepositoryGrant,
  later: number,
  { installation = installationObject, inUse = false, policies = noGrantPolicies }: State = {},
) {
  const clock = createFakeClock()
  const checkedAt = new Date(clock.now().getTime() - later).toISOString()
  const deps = {
    halts: { list: () => [] },
    policiesOf: () => policies,
    approvalsOf: () => [],
    tenantOf: () => undefined,
    installations: { get: () => installation },
    githubApps: { get: () => Promise.reject(new Error('asked')) },
    tokens: { hasLive: () => (inUse === 'unknown' ? Promise.reject(new Error('database')) : Promise.resolve(inUse)) },
    budget: { take: () => undefined },
    recheck: defaultRecheckTimes,
    clock,
    log: silentLog,
  } as unknown as GatherDeps
  const { answer } = await gather(deps, {
    ...grant,
    status: { ...grant.status, checkedAt } as NonNullable<RepositoryGrant['status']>,
  })
  return answer.kind === 'unreachable' && answer.message === 'asked'
}

const observedInputs = decisionInputs(installationObject)
const approved = grantObject({ status: { observedInputs } })
const denied = grantObject({ status: { observedInputs, decision: 'Denied' } })

test('a denied grant is never asked about again without a reason', async () => {
  for (const later of [0, hour, day, 365 * day]) expect(await isAsked(denied, later, { inUse: true })).toBe(false)
})

test.each([
  ['another installation of the App', { ...installationObject, spec: { ...installationObject.spec, installationId: 78 } }],
  ['an Installation that was created again', { ...installationObject, metadata: { ...installationObject.metadata, uid: 'new' } }],
  ['another selection', { ...installationObject, status: { ...installationObject.status, repositorySelection: 'all' } }],
  ['more permissions', { ...installationObject, status: { ...installationObject.status, permissions: { contents: 'write' } } }],
] as readonly (readonly [string, Installation])[])(
  '%s makes a denied grant and an approved one due at once',
  async (_name, installation) => {
    expect(await isAsked(denied, 0, { installation })).toBe(true)
    expect(await isAsked(approved, 0, { installation })).toBe(true)
  },
)

test('a webhook, and rules of another version, make a denied grant due at once', async () => {
  const woken = { ...denied, metadata: { ...denied.metadata, annotations: { [wakeAnnotation]: 'delivery-1' } } }
  expect(await isAsked(woken, 0)).toBe(true)
  expect(await isAsked(grantObject({ status: { decision: 'Denied', observedInputs: 'of an earlier version' } }), 0)).toBe(true)
})

test('an approved grant is asked about every hour while its tokens are in use, and every twelve hours at rest', async () => {
  const spread = spreadOfGrant(approved)
  expect(await isAsked(approved, hour * spread - 1, { inUse: true })).toBe(false)
  expect(await isAsked(approved, hour * spread, { inUse: true })).toBe(true)
  // Unknown counts as in use.
  expect(await isAsked(approved, hour * spread, { inUse: 'unknown' })).toBe(true)
  expect(await isAsked(approved, hour * spread)).toBe(false)
  expect(await isAsked(approved, 12 * hour * spread - 1)).toBe(false)
  expect(await isAsked(approved, 12 * hour * spread)).toBe(true)
})

test('the checks of ten thousand grants are spread: at most 1,000 an hour at rest', () => {
  const spreads = Array.from({ length: 10_000 }, (_, index) => spreadOfGrant(grantObject({ name: `grant-${index}` })))
  expect(Math.min(...spreads)).toBeGreaterThanOrEqual(0.9)
  expect(Math.max(...spreads)).toBeLessThanOrEqual(1.1)
  const anHour = spreads.reduce((sum, spread) => sum + hour / (defaultRecheckTimes.atRestMilliseconds * spread), 0)
  expect(anHour).toBeLessThanOrEqual(1000)
})

test('while GitHub wants no requests of the App, waiting uses up nothing of what the tenant may cause', async () => {
  const refusal = new AppError('too_many_requests', 'GitHub asked us to wait', { retryAfterSeconds: 40, reason: 'RateLimited' })
  const deps = {
    halts: { list: () => [] },
    policiesOf: () => noGrantPolicies,
    approvalsOf: () => [],
    tenantOf: () => undefined,
    installations: { get: () => installationObject },
    githubApps: {
      get: async () => ({ client: { mintRefusal: () => refusal }, endpoints: { host: installationObject.spec.account.host } }),
    },
    budget: { take: () => expect.unreachable('the budget was asked') },
    recheck: defaultRecheckTimes,
    clock: createFakeClock(),
    log: silentLog,
  } as unknown as GatherDeps
  const { answer } = await gather(deps, grantObject({ status: { observedInputs: 'other' } }))
  expect(answer).toEqual({ kind: 'unreachable', message: 'GitHub asked us to wait', retryAfterSeconds: 40, isPaced: false })
})
