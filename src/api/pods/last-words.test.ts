import { expect, test } from 'vitest'
import { lastWords } from './last-words.ts'

const node = `/workspace/server.js:1
throw new Error('this server never starts')
^

Error: this server never starts
    at Object.<anonymous> (/workspace/server.js:1:7)
    at node:internal/main/run_main_module:36:49

Node.js v24.21.0
`
const python = `Traceback (most recent call last):
  File "/app/main.py", line 1, in <module>
    import flask
ModuleNotFoundError: No module named 'flask'
`

test.each([
  ['a stack of Node.js', node, 'Error: this server never starts'],
  ['a stack of Python', python, "ModuleNotFoundError: No module named 'flask'"],
  ['a panic of Go', 'listening\npanic: no database\n\ngoroutine 1 [running]:\nmain.main()\n', 'panic: no database'],
  ['only its last line', 'starting\nno database\n', 'no database'],
  [
    'what npm writes after it',
    '> app@1.0.0 start\n> node server.js\n\nno database\nnpm error code 1\nnpm error A complete log of this run can be found in: /tmp/x\n',
    'no database',
  ],
  ['a hint after it', 'Error: no database\nhint: is it running?\n', 'Error: no database'],
  ['nothing but frames', '    at a (b.js:1:1)\n', undefined],
  ['an empty log', '', undefined],
  ['no log', undefined, undefined],
])('%s', (_what, log, words) => {
  expect(lastWords(log)).toBe(words)
})

test('a token in the line is replaced, and a long line is cut', () => {
  expect(lastWords(`Error: ghp_${'a'.repeat(36)} is not valid`)).not.toContain('ghp_aaaa')
  expect(lastWords(`Error: ${'x'.repeat(5000)}`)).toHaveLength(200)
})
