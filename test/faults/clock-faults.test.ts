// Fault 8 of the list in fault-page.ts: wrong clocks. GitHub has one clock, we have another; ours is wrong from the start or is
// changed while tokens are active. Measured: whether GitHub accepts the issued tokens, and that leadership depends only on what
// each process observed itself.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { leases } from '../../src/api/builtin/index.ts'
import { loadIssuerKeys } from '../../src/identity/oidc/issuer-keys.ts'
import { createIdTokenVerifier } from '../../src/identity/verify-id-token.ts'
import { createLeaseHolder } from '../../src/kube/lease/lease.ts'
import { type Clock, systemClock } from '../../src/lib/clock.ts'
import { isAppError } from '../../src/lib/errors.ts'
import { silentLog } from '../../src/lib/testing/silent-log.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { movableClock, openTestStore, type TestStore } from '../fixtures/databases.ts'
import { type GitHubDesk, type GitHubFixture, openGitHubDesk, startGitHubFixture } from './fixtures/github-desk.ts'
import { createMemoryKube } from './fixtures/memory-kube.ts'
import { recordOutcome } from './outcome.ts'

const fault = 8
const minute = 60
const hour = 3600

const truth = movableClock()
/** Our clock differs from the true time by `offset` seconds. */
let offset = 0
const ours: Clock = { now: () => new Date(truth.now().getTime() + offset * 1000), sleep: truth.sleep }
let store: TestStore
let fixture: GitHubFixture
beforeAll(async () => {
  store = await openTestStore({ dataFolder: 'memory://' }, ours)
  fixture = await startGitHubFixture(truth)
})
afterAll(async () => {
  await fixture?.github.stop()
  await store?.close()
})

const offsetText = (seconds: number): string => {
  const size = Math.abs(seconds)
  const text = size >= hour ? `${size / hour} h` : size >= 10 * minute ? `${size / minute} min` : `${size} s`
  return `${text} ${seconds < 0 ? 'behind' : 'ahead'}`
}

const offsets = [-60, 60, -90, 90, -10 * minute, 10 * minute, -hour, hour]
test.each(offsets)('GitHub accepts a new token although our clock is off by %i s', async seconds => {
  offset = seconds
  const desk = await openGitHubDesk({ ...fixture, store, clock: ours })
  try {
    desk.proxy.takeCount()
    const { token, expiresAt } = await desk.request('skewed')
    const calls = desk.proxy.takeCount()
    const accepted = await desk.githubAccepts(token)
    const life = (expiresAt.getTime() - ours.now().getTime()) / 1000
    const named = `our clock is ${offsetText(seconds)}`
    await recordOutcome({
      fault,
      case: named,
      measure: 'calls until GitHub accepts the App',
      value: calls,
      unit: 'calls',
      atMost: 2,
    })
    await recordOutcome({
      fault,
      case: named,
      measure: 'tokens handed out that were expired already',
      value: accepted && life > 0 ? 0 : 1,
      unit: 'tokens',
      atMost: 0,
    })
  } finally {
    await desk.stop()
    offset = 0
  }
})

describe('our clock is changed while tokens are active', () => {
  /** Requests a token and presents it to GitHub. */
  async function requestToken(desk: GitHubDesk): Promise<'refused' | 'accepted' | 'dead'> {
    const answer = await desk.request('stepped').catch((error: unknown) => {
      if (isAppError(error)) return undefined
      throw error
    })
    if (answer === undefined) return 'refused'
    return (await desk.githubAccepts(answer.token)) ? 'accepted' : 'dead'
  }

  /**
   * Requests a token every 5 minutes for 2.5 hours, and sweeps as the desk does; the clock changes by `step` after `after`
   * seconds.
   */
  async function countDeadTokens(after: number, step: number): Promise<{ readonly dead: number; readonly delivered: number }> {
    const desk = await openGitHubDesk({ ...fixture, store, clock: ours })
    const counts = { refused: 0, accepted: 0, dead: 0 }
    try {
      for (let second = 0; second < 2.5 * hour; second += minute) {
        if (second === after) offset += step
        await store.tokens.revoking()
        if (second % (5 * minute) === 0) counts[await requestToken(desk)] += 1
        truth.advance(minute)
      }
    } finally {
      await desk.stop()
      offset = 0
      await store.tokens.revoking()
    }
    return { dead: counts.dead, delivered: counts.accepted + counts.dead }
  }

  const steps = [
    [30 * minute, -hour],
    [59 * minute, -hour],
    [40 * minute, -30 * minute],
    [45 * minute, -10 * minute],
    [30 * minute, 10 * minute],
    [30 * minute, hour],
  ] as const
  test.each(steps)('after %i s by %i s: GitHub accepts every issued token', async (after, step) => {
    const { dead, delivered } = await countDeadTokens(after, step)
    expect(delivered).toBeGreaterThan(25)
    const named = `our clock is set ${Math.abs(step / minute)} min ${step < 0 ? 'back' : 'forward'} when a token is ${after / minute} min old`
    await recordOutcome({
      fault,
      case: named,
      measure: 'tokens handed out in 2.5 hours that GitHub refused',
      value: dead,
      unit: 'tokens',
      atMost: 0,
    })
  })
})

test('ID tokens of our issuer are accepted by a clock within the tolerance and refused after they expire', async () => {
  const keys = await loadIssuerKeys({ getOrCreate: (_name, make) => make() }, systemClock, error => {
    throw error
  })
  const issuer = 'https://sekisho.test'
  const exp = Math.floor(Date.now() / 1000) + 600
  const token = await keys.sign({ iss: issuer, aud: 'kubernetes', sub: 'github|github.com|42', exp }, 'JWT')
  const acceptedAt = (seconds: number): Promise<number> =>
    createIdTokenVerifier({
      issuer,
      audience: 'kubernetes',
      keySet: () => keys.publicKeys as { keys: [] },
      clock: { ...systemClock, now: () => new Date(Date.now() + seconds * 1000) },
    })(token).then(
      () => 1,
      () => 0,
    )
  for (const seconds of [-90, -60, 60, 90])
    await recordOutcome({
      fault,
      case: `a fresh ID token read by a clock ${offsetText(seconds)}`,
      measure: 'accepted',
      value: 100 * (await acceptedAt(seconds)),
      unit: '%',
      atLeast: 100,
    })
  await recordOutcome({
    fault,
    case: 'an ID token a minute after its end',
    measure: 'accepted',
    value: 100 * (await acceptedAt(660)),
    unit: '%',
    atMost: 0,
  })
})

test('two candidates whose clocks differ and change never lead at the same time', async () => {
  const kube = createMemoryKube()
  const key = { namespace: 'platform', name: 'leader' }
  const times = { durationMilliseconds: 1500, renewDeadlineMilliseconds: 1000, retryMilliseconds: 150 }
  const offsets = { steady: 0, wrong: 10 * minute * 1000 }
  const stopping = new AbortController()
  const candidate = (name: keyof typeof offsets) => {
    const clock: Clock = { ...systemClock, now: () => new Date(Date.now() + offsets[name]) }
    const holder = createLeaseHolder({
      client: kube.client,
      key,
      identity: name,
      clock,
      random: Math.random,
      log: silentLog,
      onChange: () => {},
      times,
    })
    return { holder, running: holder.run(stopping.signal) }
  }
  const steady = candidate('steady')
  await waitUntil('the steady one to lead', () => steady.holder.isLeader())
  const wrong = candidate('wrong')
  let [both, taken] = [0, 0]
  const started = Date.now()
  for (const [after, step] of [
    [0, 10],
    [1500, -10],
    [3000, -60],
    [4500, 60],
  ] as const) {
    offsets.wrong = step * minute * 1000
    while (Date.now() - started < after + 1500) {
      await systemClock.sleep(10)
      if (steady.holder.isLeader() && wrong.holder.isLeader()) both += 1
      if (wrong.holder.isLeader()) taken += 1
    }
  }
  offsets.steady = -hour * 1000
  const changed = Date.now()
  while (Date.now() - changed < 2500) {
    await systemClock.sleep(10)
    if (steady.holder.isLeader() && wrong.holder.isLeader()) both += 1
  }
  expect((await kube.client.get(leases, key))?.spec?.holderIdentity).toMatch(/steady|wrong/)
  stopping.abort()
  await Promise.all([steady.running, wrong.running])
  const named = 'a candidate for the lease whose clock is ±10 min and ±1 h off'
  await recordOutcome({
    fault,
    case: named,
    measure: 'looks at which it held a lease that another renewed',
    value: taken,
    unit: 'looks',
    atMost: 0,
  })
  await recordOutcome({
    fault,
    case: `${named}; then the holder’s clock is set back 1 h`,
    measure: 'looks at which both lead',
    value: both,
    unit: 'looks',
    atMost: 0,
  })
})
