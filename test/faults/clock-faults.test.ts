// Fault 8: clocks that are wrong. GitHub's clock and ours are two; ours is off from the start or is set while tokens live. What counts is what
// GitHub says to the tokens that were handed out, and that leadership is judged by what a process saw itself.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { leases } from '../../src/api/builtin/index.ts'
import { loadIssuerKeys } from '../../src/identity/oidc/issuer-keys.ts'
import { createIdTokenVerifier } from '../../src/identity/verify-id-token.ts'
import { createLeaseHolder } from '../../src/kube/lease/lease.ts'
import { type Clock, systemClock } from '../../src/lib/clock.ts'
import { isAppError } from '../../src/lib/errors.ts'
import { silentLog } from '../../src/lib/testing/silent-log.ts'
import type { Store } from '../../src/store/store.ts'
import { movableClock, openTestStore } from '../fixtures/databases.ts'
import { type GitHubFixture, openGitHubDesk, startGitHubFixture } from './fixtures/github-desk.ts'
import { createMemoryKube } from './fixtures/memory-kube.ts'
import { recordOutcome } from './outcome.ts'

const fault = 8
const minute = 60
const hour = 3600

const truth = movableClock()
/** Ours differs from the truth by `offset` seconds. */
let offset = 0
const ours: Clock = { now: () => new Date(truth.now().getTime() + offset * 1000), sleep: truth.sleep }
let store: Store
let fixture: GitHubFixture
beforeAll(async () => {
  store = await openTestStore({ dataFolder: 'memory://' }, ours)
  fixture = await startGitHubFixture(truth)
}, 60_000)
afterAll(async () => {
  await fixture?.github.stop()
  await store?.close()
})

const spoken = (seconds: number): string => {
  const size = Math.abs(seconds)
  const text = size >= hour ? `${size / hour} h` : size >= 10 * minute ? `${size / minute} min` : `${size} s`
  return `${text} ${seconds < 0 ? 'behind' : 'ahead'}`
}

test.each([-60, 60, -90, 90, -10 * minute, 10 * minute, -hour, hour])('our clock is off by %i s', async seconds => {
  offset = seconds
  const desk = await openGitHubDesk({ ...fixture, store, clock: ours })
  try {
    desk.proxy.taken()
    const { token, expiresAt } = await desk.request('skewed')
    const calls = desk.proxy.taken()
    const accepted = await desk.githubAccepts(token)
    const life = (expiresAt.getTime() - ours.now().getTime()) / 1000
    const named = `our clock is ${spoken(seconds)}`
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

describe('our clock is set while tokens live', () => {
  /** Asks every 5 minutes for 2.5 hours, and sweeps as the desk does; the clock is set after `after` seconds. */
  async function handedOutDead(after: number, step: number): Promise<{ readonly dead: number; readonly delivered: number }> {
    const desk = await openGitHubDesk({ ...fixture, store, clock: ours })
    const counts = { dead: 0, delivered: 0 }
    try {
      for (let second = 0; second < 2.5 * hour; second += minute) {
        if (second === after) offset += step
        await store.tokens.revoking()
        if (second % (5 * minute) === 0) {
          const answer = await desk.request('stepped').catch((error: unknown) => {
            if (isAppError(error)) return undefined
            throw error
          })
          if (answer !== undefined) counts.delivered += 1
          if (answer !== undefined && !(await desk.githubAccepts(answer.token))) counts.dead += 1
        }
        truth.advance(minute)
      }
    } finally {
      await desk.stop()
      offset = 0
      await store.tokens.revoking()
    }
    return counts
  }

  const steps = [
    [30 * minute, -hour],
    [59 * minute, -hour],
    [40 * minute, -30 * minute],
    [45 * minute, -10 * minute],
    [30 * minute, 10 * minute],
    [30 * minute, hour],
  ] as const
  test.each(steps)(
    'after %i s by %i s',
    async (after, step) => {
      const { dead, delivered } = await handedOutDead(after, step)
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
    },
    60_000,
  )
})

test('ID tokens of our issuer, read by a clock that is off', async () => {
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
      case: `a fresh ID token read by a clock ${spoken(seconds)}`,
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

test('two candidates for the lease, whose clocks differ and are set', async () => {
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
  await expect.poll(() => steady.holder.isLeader(), { timeout: 5000 }).toBe(true)
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
}, 30_000)
