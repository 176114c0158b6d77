// What a command reads: nothing is attached that was not asked for or that nobody could give.
import { expect, test } from 'vitest'
import { inputOf } from './run.ts'

test.each([
  ['a pipe is passed on by itself', {}, 'stream', 'stream'],
  ['a terminal only when it was asked for', {}, 'terminal', 'none'],
  ['with -t', { interactive: true, tty: true }, 'terminal', 'terminal'],
  ['with -i', { interactive: true }, 'terminal', 'stream'],
  ['nothing comes from /dev/null', {}, 'none', 'none'],
  ['a detached command reads nothing', { detach: true }, 'stream', 'none'],
] as const)('%s', (_what, options, input, read) => {
  expect(inputOf(options, { input }, true)).toBe(read)
})

test('who is no person cannot attach: a pipe is left alone, and -i is refused', () => {
  expect(inputOf({}, { input: 'stream' }, false)).toBe('none')
  expect(() => inputOf({ interactive: true }, { input: 'stream' }, false)).toThrow('only people')
})

test('-t without a terminal, and -i of a command that nobody waits for, are refused', () => {
  expect(() => inputOf({ tty: true }, { input: 'stream' }, true)).toThrow('standard input is not a terminal')
  expect(() => inputOf({ interactive: true, detach: true }, { input: 'terminal' }, true)).toThrow('--detach')
})
