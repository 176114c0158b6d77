// When the circuit refuses requests, when it lets a probe through, and when it closes again.
import { expect, test } from 'vitest'
import { movableClock } from '../../../test/fixtures/databases.ts'
import { createCircuit } from './circuit.ts'

function fixture() {
  const clock = movableClock()
  const state = { asked: 0, answer: (): Response => new Response('', { status: 502 }) }
  const circuit = createCircuit(clock)
  const fetch = circuit.guard(async () => {
    state.asked += 1
    return state.answer()
  })
  const ask = () =>
    fetch('https://github.test/').then(
      response => response.status,
      (error: unknown) => error,
    )
  return { clock, state, circuit, ask }
}

test('five failures in a row stop requests, and the pauses between probes grow', async () => {
  const { clock, state, circuit, ask } = fixture()
  for (let attempt = 0; attempt < 5; attempt += 1) expect(await ask()).toBe(502)
  expect(await ask()).toMatchObject({ code: 'unavailable', reason: 'GitHubUnreachable', retryAfterSeconds: 1 })
  expect(state.asked).toBe(5)
  const probes: number[] = []
  for (let second = 1; second <= 300; second += 1) {
    clock.advance(1)
    const before = state.asked
    await ask()
    if (state.asked > before) probes.push(second)
  }
  expect(probes).toEqual([1, 3, 7, 15, 31, 61, 91, 121, 151, 181, 211, 241, 271])
  state.answer = () => new Response('{}')
  clock.advance(30)
  expect(await ask()).toBe(200)
  expect(circuit.refusal()).toBeUndefined()
})

test('a success between failures restarts the count, and a refused request is not a failure', async () => {
  const { state, circuit, ask } = fixture()
  for (const status of [502, 502, 502, 502, 200, 502, 502, 502, 404, 422, 403, 401, 502]) {
    state.answer = () => new Response('{"message":"no"}', { status })
    expect(await ask()).toBe(status)
  }
  expect(circuit.refusal()).toBeUndefined()
})

test.each([
  [new Response('{}', { status: 429, headers: { 'retry-after': '40' } }), 40],
  [new Response('{"message":"You have exceeded a secondary rate limit"}', { status: 403 }), 60],
  [new Response('{}', { status: 403, headers: { 'retry-after': '7' } }), 7],
  [new Response('{}', { status: 429, headers: { 'retry-after': '999999' } }), 3600],
])('one answer that asks us to wait is obeyed', async (answer, seconds) => {
  const { clock, state, ask } = fixture()
  state.answer = () => answer
  await ask()
  expect(await ask()).toMatchObject({ code: 'too_many_requests', reason: 'RateLimited', retryAfterSeconds: seconds })
  state.answer = () => new Response('{}')
  clock.advance(seconds - 1)
  expect(await ask()).toMatchObject({ code: 'too_many_requests' })
  clock.advance(1)
  expect(await ask()).toBe(200)
  expect(state.asked).toBe(2)
})

test('a request that was in progress when GitHub asked us to wait neither ends nor shortens the wait', async () => {
  const clock = movableClock()
  const sent: PromiseWithResolvers<Response>[] = []
  const circuit = createCircuit(clock)
  const fetch = circuit.guard(() => {
    const answer = Promise.withResolvers<Response>()
    sent.push(answer)
    return answer.promise
  })
  const asked = Array.from({ length: 8 }, () => fetch('https://github.test/').catch(() => undefined))
  const answerWith = async (index: number, status: number, headers: Record<string, string> = {}): Promise<void> => {
    sent[index]?.resolve(new Response('{}', { status, headers }))
    await asked[index]
  }
  await answerWith(0, 429, { 'retry-after': '60' })
  await answerWith(1, 200)
  await answerWith(2, 429, { 'retry-after': '5' })
  for (const index of [3, 4, 5, 6]) await answerWith(index, 502)
  sent[7]?.reject(new Error('reset'))
  await asked[7]
  expect(circuit.refusal()).toMatchObject({ code: 'too_many_requests', retryAfterSeconds: 60 })
})

test('many requests that fail together cause the first pause only', async () => {
  const { circuit, ask } = fixture()
  await Promise.all(Array.from({ length: 30 }, ask))
  expect(circuit.refusal()).toMatchObject({ code: 'unavailable', retryAfterSeconds: 1 })
})

test('one request at a time is a probe', async () => {
  const { clock, state, ask } = fixture()
  for (let attempt = 0; attempt < 5; attempt += 1) await ask()
  clock.advance(1)
  const results = await Promise.all(Array.from({ length: 20 }, ask))
  expect(state.asked).toBe(6)
  expect(results.filter(result => result === 502)).toHaveLength(1)
})

test('a clock that was set back does not lengthen the wait', async () => {
  const { clock, state, ask } = fixture()
  state.answer = () => new Response('{}', { status: 429, headers: { 'retry-after': '60' } })
  await ask()
  clock.advance(-3600)
  state.answer = () => new Response('{}')
  expect(await ask()).toBe(200)
})

test('of many credentials: the used up hour of one stops none of the others; what concerns all of them does', async () => {
  const clock = movableClock()
  const state = { answer: new Response('{}') }
  const circuit = createCircuit(clock, { ofManyCredentials: true })
  const fetch = circuit.guard(async () => state.answer)
  const usedUp = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(Math.floor(clock.now().getTime() / 1000) + 3000) }
  for (const status of [403, 429]) {
    state.answer = new Response('{"message":"API rate limit exceeded"}', { status, headers: usedUp })
    for (let count = 0; count < 6; count += 1) expect((await fetch('https://github.test/')).status).toBe(status)
  }
  expect(circuit.refusal()).toBeUndefined()
  state.answer = new Response('{}', { status: 403, headers: { ...usedUp, 'retry-after': '30' } })
  await fetch('https://github.test/')
  expect(circuit.refusal()).toMatchObject({ reason: 'RateLimited', retryAfterSeconds: 30 })
})
