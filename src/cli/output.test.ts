import { expect, test } from 'vitest'
import { AppError } from '../lib/errors.ts'
import { printable } from '../lib/text/printable.ts'
import { errorText, exitCodeOf, json, table } from './output.ts'

test('columns are aligned, and no cell contains control characters', () => {
  expect(
    table(
      ['A', 'B'],
      [
        ['xyz', '1'],
        ['\u001b[31mred', '2'],
      ],
    ),
  ).toBe('A         B\nxyz       1\n?[31mred  2')
})

test.each([
  ['unauthenticated', 3],
  ['integrity_violation', 4],
  ['invalid_request', 2],
  ['unavailable', 1],
] as const)('%s ends with %i', (code, exit) => {
  expect(exitCodeOf(new AppError(code, 'x'))).toBe(exit)
})

test('an error is one line, without tokens', async () => {
  const text = await errorText(new AppError('unavailable', 'refused ghu_16C7e42F292c6912E7710c838347Ae178B4a'))
  expect(text).toBe('sekisho: refused [redacted]')
})

test('control and direction characters never reach a terminal, and programs get them escaped', () => {
  const text = 'a\u001b[2Jb\u009bc\u202ed\u2066é'
  expect(printable(text)).toBe('a?[2Jb?c?d?é')
  expect(printable(json({ text }))).toBe(json({ text }).replaceAll('\n', '?'))
  expect(JSON.parse(json({ text }))).toEqual({ text })
})
