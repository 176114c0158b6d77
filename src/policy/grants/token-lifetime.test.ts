// When tokens live shorter than they did, by subject, and what people read about it.
import { expect, test } from 'vitest'
import { isShortened, lifetimesText, outlives, shorter, tokenSeconds } from './token-lifetime.ts'

const ci = { kind: 'ServiceAccount', name: 'ci' } as const
const shop = { kind: 'RemoteSync', name: 'shop' } as const

test('a subject that the status does not name has the time of its kind, an unknown kind the shorter one', () => {
  expect(tokenSeconds(undefined, ci)).toBe(900)
  expect(tokenSeconds([{ ...shop, seconds: 60 }], ci)).toBe(900)
  expect(tokenSeconds([{ ...ci, name: 'other', seconds: 60 }], ci)).toBe(900)
  expect(tokenSeconds([{ ...ci, seconds: 60 }], ci)).toBe(60)
  expect(tokenSeconds(undefined, shop)).toBe(3600)
  expect(tokenSeconds(undefined, { kind: 'Later', name: 'x' })).toBe(900)
})

test.each([
  ['from the time of the kind to a shorter one', undefined, [{ ...ci, seconds: 60 }], true],
  ['from a longer one back to that of the kind', [{ ...ci, seconds: 3600 }], undefined, true],
  ['to a longer one', [{ ...ci, seconds: 60 }], undefined, false],
  ['the same', [{ ...ci, seconds: 60 }], [{ ...ci, seconds: 60 }], false],
  ['of one who is no subject', undefined, [{ ...ci, name: 'other', seconds: 60 }], false],
])('shorter: %s', (_what, before, after, expected) => {
  expect(isShortened([shop, ci], before, after)).toBe(expected)
})

test('nothing said is not shorter than something', () => {
  expect([shorter(undefined, 5), shorter(5, undefined), shorter(5, 4), shorter(undefined, undefined)]).toEqual([
    5,
    5,
    4,
    undefined,
  ])
  expect(lifetimesText([{ ...ci, seconds: 60 }])).toBe('ServiceAccount ci: 60 s')
})

test('a token outlives its time by what the platform or GitHub said of its end, and never one of an hour', () => {
  const mintedAt = new Date('2026-01-01T00:00:00Z')
  const at = (seconds: number) => new Date(mintedAt.getTime() + seconds * 1000)
  const token = { subject: ci, mintedAt, expiresAt: at(3600) }
  expect(outlives(undefined, token)).toBe(true)
  expect(outlives(undefined, { ...token, livesUntil: at(900) })).toBe(false)
  expect(outlives([{ ...ci, seconds: 60 }], { ...token, livesUntil: at(900) })).toBe(true)
  expect(outlives([{ ...ci, seconds: 3600 }], { ...token, expiresAt: at(3700) })).toBe(false)
  expect(outlives(undefined, { ...token, subject: shop, expiresAt: at(3700) })).toBe(false)
})
