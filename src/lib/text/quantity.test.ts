import { expect, test } from 'vitest'
import { canonicalQuantity } from './quantity.ts'

test.each([
  ['1024Mi', '1Gi'],
  ['1536Mi', '1536Mi'],
  ['1048576Mi', '1Ti'],
  ['0128Mi', '128Mi'],
  ['0Mi', '0'],
  ['1000m', '1'],
  ['1500m', '1500m'],
  ['2000', '2k'],
  ['2', '2'],
])('%s is stored as %s', (given, stored) => expect(canonicalQuantity(given)).toBe(stored))
