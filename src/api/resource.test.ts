import { expect, test } from 'vitest'
import { keyText, parseKey, wireTime } from './resource.ts'

test('keys read back as they were written', () => {
  for (const key of [{ name: 'system:node' }, { namespace: 'a', name: 'b.c' }]) expect(parseKey(keyText(key))).toEqual(key)
})

test('a time in an object has whole seconds', () => {
  expect(wireTime(new Date('2026-01-01T10:20:30.999Z'))).toBe('2026-01-01T10:20:30Z')
})
