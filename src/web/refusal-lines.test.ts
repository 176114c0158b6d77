// How many lines refusals make, and that nothing is left out silently.
import { expect, test } from 'vitest'
import { createFakeClock } from '../lib/testing/fake-clock.ts'
import { createRefusalLines } from './refusal-lines.ts'

test('a client that floods has its lines bounded, says how many were left out, and leaves those of others', async () => {
  const clock = createFakeClock()
  const lines = createRefusalLines(clock)
  const taken = Array.from({ length: 1000 }, () => lines.take('flood')).filter(line => line !== undefined)
  expect(taken.length).toBe(30)
  expect(lines.take('person')).toEqual({ leftOut: 970 })
  await clock.advance(2000)
  expect(lines.take('flood')).toEqual({ leftOut: 0 })
})

test('all clients together are bounded, too', () => {
  const lines = createRefusalLines(createFakeClock())
  const taken = Array.from({ length: 5000 }, (_, client) => lines.take(`client ${client}`)).filter(line => line !== undefined)
  expect(taken.length).toBe(300)
})
