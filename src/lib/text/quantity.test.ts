import fc from 'fast-check'
import { expect, test } from 'vitest'
import { amountOf, atMost, canonicalQuantity, mebibytesOf, type Quantity } from './quantity.ts'

test.each<[Quantity, string]>([
  ['1024Mi', '1Gi'],
  ['1536Mi', '1536Mi'],
  ['1048576Mi', '1Ti'],
  ['0128Mi', '128Mi'],
  ['0Mi', '0'],
  ['1000m', '1'],
  ['1500m', '1500m'],
  ['2000', '2k'],
  ['2', '2'],
  [1, '1'],
  [536_870_912, '536870912'],
  ['512M', '512M'],
  ['1e3', '1k'],
  ['12e5', '1200k'],
  ['0.5', '500m'],
  ['.25', '250m'],
  ['1.', '1'],
  ['100u', '1m'],
  ['1.5Gi', '1536Mi'],
  ['0.5Mi', '512Ki'],
  ['0.5Ki', '512'],
  ['0.1Gi', '107374182400m'],
  ['1000k', '1M'],
  ['1E', '1E'],
  ['5Ei', '5Ei'],
])('%s is stored as %s', (given, stored) => expect(canonicalQuantity(given)).toBe(stored))

test.each(['1 Gi', '1MB', '-1', '1e', '', '1e100', 'Gi'])('%j is not a quantity', text => {
  expect(canonicalQuantity(text)).toBe(text)
  expect(amountOf(text)).toBe(0)
})

test('what the API server stored is stored the same again', () => {
  const quantity = fc.oneof(
    fc.nat(),
    fc
      .tuple(fc.double({ min: 0, max: 1e6, noNaN: true }), fc.constantFrom('', 'm', 'k', 'M', 'Ki', 'Mi', 'Gi'))
      .map(([number, suffix]) => `${number.toFixed(3)}${suffix}`),
  )
  fc.assert(
    fc.property(quantity, given => {
      const stored = canonicalQuantity(given)
      expect(canonicalQuantity(stored)).toBe(stored)
      expect(amountOf(stored)).toBeGreaterThanOrEqual(amountOf(given))
    }),
  )
})

test('quantities are compared whatever their units', () => {
  expect(amountOf('512M')).toBeLessThan(amountOf('512Mi'))
  expect(amountOf('1Gi')).toBe(amountOf(1_073_741_824))
  expect(amountOf('0.5')).toBe(amountOf('500m'))
  expect(atMost('2G', '512Mi')).toBe('512Mi')
  expect(atMost('500M', '512Mi')).toBe('500M')
  expect(mebibytesOf('512M')).toBe(489)
  expect(mebibytesOf('2Gi')).toBe(2048)
})
