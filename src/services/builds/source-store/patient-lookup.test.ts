import { expect, test } from 'vitest'
import { createFakeClock } from '../../../lib/testing/fake-clock.ts'
import { createPatientLookup } from './patient-lookup.ts'

const never = new AbortController().signal

function sources() {
  const clock = createFakeClock()
  const stored = new Map<string, string>()
  let reads = 0
  const find = createPatientLookup({
    async lookup(secret) {
      reads += 1
      return stored.get(secret)
    },
    patienceMilliseconds: 15_000,
    clock,
  })
  return { clock, stored, find, reads: () => reads }
}

test('a source that a new leader is still fetching is answered when it is there', async () => {
  const { clock, stored, find } = sources()
  const early = find('a', 'pod-1', never)
  await clock.advance(5000)
  stored.set('a', '/sources/a')
  await clock.advance(1000)
  expect(await early).toBe('/sources/a')
})

test('an unknown address is answered after a quarter of a minute, and at once when its client has left', async () => {
  const { clock, find, reads } = sources()
  const leaving = new AbortController()
  const [unknown, left] = [find('a', 'pod-1', never), find('b', 'pod-2', leaving.signal)]
  leaving.abort()
  await clock.advance(0)
  expect(await left).toBeUndefined()
  await clock.advance(16_000)
  expect(await unknown).toBeUndefined()
  const before = reads()
  await clock.advance(60_000)
  expect(reads()).toBe(before)
})

test('clients that guess addresses do not take the places of others, and those without a place are answered at once', async () => {
  const { clock, stored, find } = sources()
  const guesses = Array.from({ length: 200 }, (_, index) => find(`guess ${index}`, 'greedy', never))
  const atOnce = await Promise.race([Promise.all(guesses.slice(4)), clock.advance(1).then(() => 'late')])
  expect(atOnce).not.toBe('late')
  const modest = find('mine', 'pod-1', never)
  stored.set('mine', '/sources/mine')
  await clock.advance(1000)
  expect(await modest).toBe('/sources/mine')
  await clock.advance(16_000)
  await Promise.all(guesses)
})
