// How many tokens are requested of GitHub: by all installations together in any minute, and by one of them beside the others.
import { expect, test } from 'vitest'
import { createFakeClock } from '../../lib/testing/fake-clock.ts'
import { createMintPace, type MintPace } from './mint-pace.ts'

/** Requests as often as there is no refusal, at most `most` times. */
function takeAll(pace: MintPace, installationId: number, most = 1000): number {
  let taken = 0
  for (; taken < most && pace.refusal(installationId) === undefined; taken++) pace.take(installationId)
  return taken
}

/** The most requests of any minute, when all these installations ask every 100 milliseconds for three minutes. */
async function busiestMinute(isLeader: boolean, installations: readonly number[]): Promise<number> {
  const clock = createFakeClock()
  const pace = createMintPace(clock, () => isLeader)
  const times: number[] = []
  for (let step = 0; step < 1800; step++) {
    for (const id of installations) times.push(...Array.from({ length: takeAll(pace, id) }, () => clock.monotonic()))
    await clock.advance(100)
  }
  return Math.max(...times.map((from, index) => times.slice(index).filter(time => time < from + 60_000).length))
}

const many = Array.from({ length: 20 }, (_, index) => index + 1)

test.each([
  ['the leader, two installations', true, [1, 2], 126],
  ['the leader, twenty installations', true, many, 126],
  ['another replica, one installation', false, [1], 45],
  ['another replica, twenty installations', false, many, 45],
] as const)('%s: never more in a minute than the share of the App', async (_name, isLeader, installations, most) => {
  const busiest = await busiestMinute(isLeader, installations)
  expect(busiest).toBeLessThanOrEqual(most)
  expect(busiest).toBeGreaterThan(most - 12)
})

test('two replicas together leave 45 of GitHub’s 900 points a minute, a request costs five', async () => {
  const points = 5 * ((await busiestMinute(true, many)) + (await busiestMinute(false, many)))
  expect(points).toBeLessThanOrEqual(855)
})

test('an installation that requests as often as it may leaves ten at once, four to each other one, and the refusal says whose limit it was', () => {
  const pace = createMintPace(createFakeClock(), () => true)
  expect(takeAll(pace, 5)).toBe(45)
  expect(pace.refusal(5)).toMatchObject({ code: 'too_many_requests', message: expect.stringContaining('this GitHub App') })
  expect([6, 7, 8].map(id => takeAll(pace, id))).toEqual([4, 4, 2])
})

/**
 * The seconds in which installation 1, which requests a token every ten, was refused beside others that request without end; in
 * ten minutes.
 */
async function secondsOfRefusals(others: number): Promise<readonly number[]> {
  const clock = createFakeClock()
  const pace = createMintPace(clock, () => true)
  const refused: number[] = []
  for (let step = 0; step < 6000; step++) {
    for (let id = 2; id < 2 + others; id++) takeAll(pace, id)
    if (step % 100 === 0 && takeAll(pace, 1, 1) === 0) refused.push(step / 10)
    await clock.advance(100)
  }
  return refused
}

test('one that requests a token every ten seconds is never refused beside three that request without end, and beside ten only at first', async () => {
  expect(await secondsOfRefusals(3)).toEqual([])
  expect(Math.max(...(await secondsOfRefusals(10)))).toBeLessThan(120)
})

test('an installation alone gets one a second in the long run', async () => {
  const clock = createFakeClock()
  const pace = createMintPace(clock, () => true)
  takeAll(pace, 5)
  await clock.advance(600_000)
  takeAll(pace, 5)
  let taken = 0
  for (let second = 0; second < 600; second++) {
    await clock.advance(1000)
    taken += takeAll(pace, 5)
  }
  expect(taken).toBeGreaterThanOrEqual(600)
  expect(taken).toBeLessThanOrEqual(630)
  expect(pace.refusal(5)).toMatchObject({ message: expect.stringContaining('this installation') })
})

test('a replica that becomes the leader does not begin with more than it had left', () => {
  let leads = false
  const pace = createMintPace(createFakeClock(), () => leads)
  expect([5, 6, 7, 8].map(id => takeAll(pace, id))).toEqual([5, 4, 4, 2])
  leads = true
  expect(pace.refusal(9)).toMatchObject({ code: 'too_many_requests' })
})
