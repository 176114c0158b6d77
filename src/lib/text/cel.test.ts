// A text in CEL stays one text, whatever is in it.
import { expect, test } from 'vitest'
import { celList, celText } from './cel.ts'

test.each([
  ['plain', "'plain'"],
  ["it's", "'it\\'s'"],
  ["\\' || true || '", "'\\\\\\' || true || \\''"],
])('%s', (text, literal) => {
  expect(celText(text)).toBe(literal)
})

test('a list of texts', () => {
  expect([celList([]), celList(['a', "b'"])]).toEqual(['[]', "['a', 'b\\'']"])
})
