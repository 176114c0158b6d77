// Fault 7 of the list in fault-page.ts: GitHub is unavailable, slow, limits us, or withdraws access. The minutes of an outage
// pass on a clock that the test moves; the token desk, the App client, the registry and the audit log are the product's.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { setSuspended, uninstallApp } from '../../dev/github/actions/install-app.ts'
import { createRepositoryClient } from '../../src/github/index.ts'
import { isAppError } from '../../src/lib/errors.ts'
import { silentLog } from '../../src/lib/testing/silent-log.ts'
import { verifyLog } from '../../src/store/audit/testing/verify-log.ts'
import { movableClock, openTestStore, type TestStore } from '../fixtures/databases.ts'
import type { RequestFault } from '../proxies/chaos-proxy/faults.ts'
import { type GitHubDesk, type GitHubFixture, openGitHubDesk, startGitHubFixture } from './fixtures/github-desk.ts'
import { recordOutcome } from './outcome.ts'

const fault = 7

type Environment = { readonly clock: ReturnType<typeof movableClock>; readonly desk: GitHubDesk }

const clock = movableClock()
let store: TestStore
let fixture: GitHubFixture
beforeAll(async () => {
  store = await openTestStore({ dataFolder: 'memory://' }, clock)
  fixture = await startGitHubFixture(clock)
})
afterAll(async () => {
  await fixture?.github.stop()
  await store?.close()
})

async function openEnvironment(answerWithinMilliseconds?: number): Promise<Environment> {
  const limit = answerWithinMilliseconds === undefined ? {} : { answerWithinMilliseconds }
  return { clock, desk: await openGitHubDesk({ ...fixture, store, clock, ...limit }) }
}

type Tally = { delivered: number; expired: number; refused: number; unexpected: unknown[] }

async function requestToken({ clock, desk }: Environment, workload: string, tally: Tally): Promise<boolean> {
  try {
    const { expiresAt } = await desk.request(workload)
    tally.delivered += 1
    if (expiresAt.getTime() <= clock.now().getTime()) tally.expired += 1
    return true
  } catch (error) {
    tally.refused += 1
    if (!isAppError(error, 'unavailable') && !isAppError(error, 'too_many_requests') && !isAppError(error, 'upstream_failed'))
      tally.unexpected.push(error)
    return false
  }
}
const newTally = (): Tally => ({ delivered: 0, expired: 0, refused: 0, unexpected: [] })

const outages: readonly (readonly [string, RequestFault])[] = [
  ['answers 502', { kind: 'refuse', status: 502, message: 'Server Error' }],
  [
    'answers 403, secondary limit, without Retry-After',
    { kind: 'refuse', status: 403, message: 'You have exceeded a secondary rate limit' },
  ],
  [
    'answers 403 with Retry-After 60',
    { kind: 'refuse', status: 403, message: 'secondary rate limit', headers: { 'retry-after': '60' } },
  ],
  ['answers 429 with Retry-After 30', { kind: 'refuse', status: 429, message: 'slow down', headers: { 'retry-after': '30' } }],
  ['does not answer', { kind: 'half-open' }],
  ['resets connections', { kind: 'reset' }],
  ['begins to answer and does not end', { kind: 'slow-body' }],
]

test('during outages of five minutes known tokens are issued, GitHub is called rarely, and minting recovers', async () => {
  const stepSeconds = 10
  const environments = await Promise.all(
    outages.map(async ([name, outage]) => {
      const environment = await openEnvironment(250)
      const before = await environment.desk.request('settled')
      environment.desk.proxy.takeCount()
      environment.desk.proxy.setFault(outage)
      return { ...environment, name, before, settled: newTally(), waiting: newTally(), calls: 0, recovery: 0, back: false }
    }),
  )
  onTestFinished(async () => {
    for (const { desk } of environments) await desk.stop()
  })
  // All share one clock, so that their minutes pass together.
  for (let second = 0; second < 300; second += stepSeconds) {
    await Promise.all(
      environments.flatMap(environment => [
        requestToken(environment, 'settled', environment.settled),
        ...['a', 'b', 'c'].map(workload => requestToken(environment, workload, environment.waiting)),
      ]),
    )
    clock.advance(stepSeconds)
  }
  for (const environment of environments) {
    environment.calls = environment.desk.proxy.takeCount()
    environment.desk.proxy.setFault(undefined)
  }
  for (let second = 0; second < 120 && environments.some(({ back }) => !back); second += 1) {
    await Promise.all(
      environments.map(async environment => {
        if (environment.back) return
        environment.back = await requestToken(environment, 'a', newTally())
        environment.recovery = second
      }),
    )
    clock.advance(1)
  }
  for (const { name, before, desk, settled, waiting, calls, recovery, back } of environments) {
    expect.soft([...settled.unexpected, ...waiting.unexpected], name).toEqual([])
    expect.soft(back, name).toBe(true)
    expect.soft((await desk.request('settled')).token.equals(before.token), name).toBe(true)
    const named = `GitHub ${name} for 5 minutes; 4 workloads ask every ${stepSeconds} s`
    const served = (100 * settled.delivered) / (settled.delivered + settled.refused)
    await recordOutcome({ fault, case: named, measure: 'calls of GitHub', value: calls, unit: 'calls', atMost: 30 })
    await recordOutcome({
      fault,
      case: named,
      measure: 'requests with a live token in the registry that were answered',
      value: served,
      unit: '%',
      atLeast: 100,
    })
    await recordOutcome({
      fault,
      case: named,
      measure: 'expired tokens handed out',
      value: settled.expired + waiting.expired,
      unit: 'tokens',
      atMost: 0,
    })
    await recordOutcome({
      fault,
      case: named,
      measure: 'until a new token is minted after GitHub is back',
      value: recovery,
      unit: 's',
      atMost: 60,
    })
  }
  expect(await verifyLog(store.audit)).toMatchObject({ ok: true })
})

test('a caller gets an answer within the time limit when GitHub does not answer', async () => {
  const kinds = { hang: { kind: 'half-open' }, 'slow body': { kind: 'slow-body' } } as const
  // Concurrent: each waits for GitHub's whole time limit.
  await Promise.all(
    Object.entries(kinds).map(async ([name, kind]) => {
      const environment = await openEnvironment()
      onTestFinished(() => environment.desk.stop())
      environment.desk.proxy.setFault(kind)
      const since = performance.now()
      await expect(environment.desk.request(`patient-${name}`)).rejects.toMatchObject({
        code: 'unavailable',
        reason: 'GitHubUnreachable',
      })
      const seconds = (performance.now() - since) / 1000
      await recordOutcome({
        fault,
        case: `GitHub: ${name}`,
        measure: 'until the caller has its answer',
        value: seconds,
        unit: 's',
        atMost: 17,
      })
    }),
  )
})

describe('with a reachable GitHub', () => {
  let environment: Environment
  beforeAll(async () => {
    environment = await openEnvironment()
  })
  afterAll(() => environment?.desk.stop())

  test('a token of a workload is issued while it lives and GitHub is unavailable, and not longer', async () => {
    const { desk } = environment
    await desk.request('to-the-end')
    desk.proxy.setFault({ kind: 'refuse', status: 503, message: 'Unavailable' })
    const tally = newTally()
    let [last, dead] = [0, 0]
    for (let second = 0; second < 4500; second += 30) {
      try {
        const { token, expiresAt } = await desk.request('to-the-end')
        tally.delivered += 1
        if (expiresAt.getTime() <= clock.now().getTime()) tally.expired += 1
        if (!(await desk.githubAccepts(token))) dead += 1
        last = second
      } catch {
        tally.refused += 1
      }
      clock.advance(30)
    }
    desk.proxy.setFault(undefined)
    const named = 'GitHub is away for 75 minutes; a workload asks every 30 s'
    expect(tally.refused).toBeGreaterThan(0)
    await recordOutcome({ fault, case: named, measure: 'life of a token that is used', value: last, unit: 's', atLeast: 800 })
    await recordOutcome({
      fault,
      case: named,
      measure: 'tokens handed out that were expired or that GitHub refused',
      value: tally.expired + dead,
      unit: 'tokens',
      atMost: 0,
    })
  })

  test('many equal requests share one call of GitHub, whether it fails or succeeds', async () => {
    const { desk } = environment
    clock.advance(120)
    desk.proxy.takeCount()
    desk.proxy.setFault({ kind: 'refuse', status: 500, message: 'Server Error' })
    const failed = await Promise.allSettled(Array.from({ length: 200 }, () => desk.request('crowd')))
    const calls = desk.proxy.takeCount()
    desk.proxy.setFault(undefined)
    clock.advance(120)
    const served = await Promise.all(Array.from({ length: 200 }, () => desk.request('crowd')))
    expect(failed.every(({ status }) => status === 'rejected')).toBe(true)
    expect(new Set(served.map(({ token }) => token.reveal())).size).toBe(1)
    const named = '200 equal requests at once'
    await recordOutcome({ fault, case: named, measure: 'calls of GitHub when it fails', value: calls, unit: 'calls', atMost: 1 })
    await recordOutcome({
      fault,
      case: named,
      measure: 'calls of GitHub when it answers',
      value: desk.proxy.takeCount(),
      unit: 'calls',
      atMost: 1,
    })
  })

  test('a clock that GitHub does not accept costs one more call and issues no token', async () => {
    const { desk } = environment
    clock.advance(120)
    desk.proxy.setFault({
      kind: 'refuse',
      status: 401,
      message: "'Issued at' claim ('iat') must be an Integer representing the time",
    })
    desk.proxy.takeCount()
    await expect(desk.request('unauthorized')).rejects.toMatchObject({ reason: 'CredentialRefused' })
    desk.proxy.setFault(undefined)
    await recordOutcome({
      fault,
      case: 'GitHub answers 401 to the App',
      measure: 'calls of GitHub for one request',
      value: desk.proxy.takeCount(),
      unit: 'calls',
      atMost: 2,
    })
    expect((await desk.request('unauthorized')).repositories).toHaveLength(1)
  })

  test('the user of a token that was revoked at GitHub learns it within few calls', async () => {
    const { desk } = environment
    const { token } = await desk.request('revoked')
    await desk.client.revoke(token)
    const { endpoints } = desk
    const callsOf = async (age: number): Promise<number> => {
      const client = createRepositoryClient({ endpoints, token, log: silentLog, clock })
      clock.advance(age)
      desk.proxy.takeCount()
      await expect(client.branch(4001, 'main')).rejects.toMatchObject({ reason: 'CredentialRefused' })
      return desk.proxy.takeCount()
    }
    await recordOutcome({
      fault,
      case: 'a token was revoked at GitHub',
      measure: 'calls until its user knows, with a token that is seconds old',
      value: await callsOf(0),
      unit: 'calls',
      atMost: 4,
    })
    await recordOutcome({
      fault,
      case: 'a token was revoked at GitHub',
      measure: 'calls until its user knows, with an older one',
      value: await callsOf(60),
      unit: 'calls',
      atMost: 1,
    })
  })

  const ended: readonly (readonly [string, (desk: GitHubDesk) => void, object])[] = [
    [
      'lost a permission',
      ({ github, installation }) =>
        github.context.store.change(() => Object.assign(installation, { permissions: { metadata: 'read' } })),
      { reason: 'PermissionNotGranted' },
    ],
    [
      'is suspended',
      ({ github, installation }) => setSuspended(github.context, installation, 1001, true),
      { reason: 'InstallationSuspended' },
    ],
    ['was deleted', ({ github, installation }) => uninstallApp(github.context, installation, 1001), { code: 'not_found' }],
  ]
  test.each(ended)('issues no token under an installation that %s', async (name, end, expected) => {
    const { desk } = environment
    end(desk)
    desk.proxy.takeCount()
    const results = await Promise.allSettled(['x', 'y', 'z'].map(workload => desk.request(`${name}-${workload}`)))
    for (const result of results) expect(result.status === 'rejected' ? result.reason : 'delivered').toMatchObject(expected)
    const handedOut = results.filter(({ status }) => status === 'fulfilled').length
    await recordOutcome({
      fault,
      case: `an installation ${name}`,
      measure: 'tokens handed out',
      value: handedOut,
      unit: 'tokens',
      atMost: 0,
    })
    await recordOutcome({
      fault,
      case: `an installation ${name}`,
      measure: 'calls of GitHub for a request',
      value: desk.proxy.takeCount() / 3,
      unit: 'calls',
      atMost: 1,
    })
  })
})
