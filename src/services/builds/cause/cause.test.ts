// Real logs of builds that failed, each with the sentence that its owner gets. The logs were written by the lifecycle, the
// buildpacks of dev/images, npm, pip and the registry's clients; only paths and addresses of the machine on which they ran were
// replaced.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { machineFactor } from '../../../lib/waiting/limits.ts'
import { causeOf } from './cause.ts'

const folder = join(import.meta.dirname, 'fixtures')
const expected = JSON.parse(readFileSync(join(folder, 'sentences.json'), 'utf8')) as Readonly<Record<string, string>>
const logs = readdirSync(folder).flatMap(name => (name.endsWith('.log') ? [name.slice(0, -'.log'.length)] : []))

test('every log has its sentence, and there are at least 25', () => {
  expect(Object.keys(expected).sort()).toEqual(logs.sort())
  expect(logs.length).toBeGreaterThanOrEqual(25)
})

test.each(logs)('%s', name => {
  const cause = causeOf(readFileSync(join(folder, `${name}.log`), 'utf8'))
  expect(cause?.sentence).toBe(expected[name])
  expect(cause?.line).not.toMatch(/^(target distro|ERROR: failed to build)/)
})

test('a log that says nothing has no cause', () => {
  expect(causeOf('')).toBeUndefined()
  expect(causeOf('===> BUILDING\ndone\n')).toBeUndefined()
})

test('a sentence is one line of bounded length, without tokens and terminal control', () => {
  const long = `sekisho/node: error: \u001b[31mtoken ghs_0123456789abcdefghijABCDEFGHIJ012345\u001b[0m ${'x'.repeat(5000)}`
  const { sentence = '', line = '' } = causeOf(long) ?? {}
  expect(sentence.length).toBeLessThanOrEqual(500)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: terminal control is what must not be there
  expect(`${sentence}${line}`).not.toMatch(/ghs_|\u001b|\n/)
})

test('hostile logs are read in bounded time', () => {
  for (const piece of [
    'npm error code ',
    '(((((',
    'File "a", line 1\n',
    '/a:1\n',
    'error TS1: ',
    ' ',
    'a: ',
    '[ERROR] ',
    'File "x\n',
    "'".repeat(40),
  ]) {
    const begin = process.threadCpuUsage()
    causeOf(piece.repeat(200_000))
    expect(process.threadCpuUsage(begin).user, piece).toBeLessThan(2_000_000 * machineFactor())
  }
})
