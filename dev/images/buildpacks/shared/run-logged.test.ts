// Programs of a build whose output is looked at: exit codes, signals, and the sentence about a failure.
import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import { demandLogged, runLogged } from './run-logged.ts'

const environment = { PATH: process.env['PATH'] }
const program = (...command: [string, ...string[]]) => ({ command, folder: tmpdir(), environment })

test('the exit code is that of the program, and both streams are seen, whatever its words contain', () => {
  const { code, output } = runLogged(program('sh', '-c', 'echo "$1"; echo error >&2; exit 3', 'x', 'a b "$(id)"'))
  expect([code, output]).toEqual([3, 'a b "$(id)"\nerror\n'])
})

test('only the end of a long output is kept', () => {
  const { output } = runLogged(program('sh', '-c', 'yes 0123456789 | head -n 8000; echo end'))
  expect(output.length).toBe(65_536)
  expect(output.endsWith('0123456789\nend\n')).toBe(true)
})

test('a failure is the sentence of its output, that of a registry, or the command', () => {
  const failing = (text: string) => program('sh', '-c', `echo "${text}"; exit 1`)
  expect(() => demandLogged(failing('stale'), output => (output.includes('stale') ? 'renew it' : undefined))).toThrow('renew it')
  expect(() => demandLogged(failing('HTTP error 401 while getting https://r.example/x'))).toThrow(
    'the package registry r.example refuses the credentials (401)',
  )
  expect(() => demandLogged(failing('no'))).toThrow(/ failed with exit code 1$/)
  expect(() => demandLogged(program('sh', '-c', 'kill -KILL $$'))).toThrow(/ was ended by SIGKILL$/)
  expect(() => demandLogged(program('no-such-program'))).toThrow(/no-such-program failed with exit code 127$/)
})
