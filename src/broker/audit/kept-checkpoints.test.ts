import fc from 'fast-check'
import { expect, test } from 'vitest'
import { keptSequences } from './kept-checkpoints.ts'

test('keeps the newest, few of the old ones, and always the first', () => {
  let kept: readonly number[] = []
  for (let sequence = 1; sequence <= 20_000; sequence += 7) {
    kept = [...keptSequences([...kept, sequence])]
    if (kept.length > 24 + 53) throw new Error(`${kept.length} are kept at ${sequence}`)
  }
  expect(kept).toContain(1)
  expect(kept).toContain(20_000)
  expect(kept.length).toBeLessThan(24 + 16)
})

test('never drops the newest and never adds one that was not given', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.integer({ min: 1, max: 1_000_000_000 }), { minLength: 1 }), sequences => {
      const kept = keptSequences(sequences)
      expect(kept.has(Math.max(...sequences))).toBe(true)
      expect([...kept].every(sequence => sequences.includes(sequence))).toBe(true)
    }),
  )
})
