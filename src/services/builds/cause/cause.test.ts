// Real logs of builds that failed, each with the sentence that its owner gets. The logs were written by the lifecycle, the
// buildpacks of dev/images, npm, pip and the registry's clients; those without a line of the lifecycle by a buildpack on a
// host (dev/images/buildpacks/testing). Those of fixtures-dockerfile were written by BuildKit 0.33.1; those of fixtures-tools
// begin with the command that was run, as a Dockerfile would run it. Only paths and addresses of the machine on which they ran
// were replaced.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { machineFactor } from '../../../lib/waiting/limits.ts'
import { causeOf } from './cause.ts'
import { cleanLog } from './clean-log.ts'
import { firstError } from './first-error.ts'

type Recorded = { readonly name: string; readonly log: string; readonly sentence: string | undefined }

const folders = ['fixtures', 'fixtures-tools', 'fixtures-dockerfile'].map(name => join(import.meta.dirname, name))
const sentencesOf = (folder: string): Readonly<Record<string, string>> =>
  JSON.parse(readFileSync(join(folder, 'sentences.json'), 'utf8'))
const logsOf = (folder: string): readonly Recorded[] => {
  const sentences = sentencesOf(folder)
  const files = readdirSync(folder).filter(file => file !== 'sentences.json')
  return files.map(file => {
    const name = file.replace(/\.(log|txt)$/, '')
    return { name, log: readFileSync(join(folder, file), 'utf8'), sentence: sentences[name] }
  })
}
const all = folders.flatMap(logsOf)

test('every log has its sentence, every sentence its log, and there are more than a hundred', () => {
  for (const folder of folders)
    expect(Object.keys(sentencesOf(folder)).sort()).toEqual(
      logsOf(folder)
        .map(({ name }) => name)
        .sort(),
    )
  expect(all.length).toBeGreaterThan(100)
})

test.each(all)('$name', ({ log, sentence }) => {
  const cause = causeOf(log)
  expect(cause?.sentence).toBe(sentence)
  expect(cause?.line).not.toMatch(/^(target distro|ERROR: failed to build)/)
})

/** What tools write beside an error, in every log of theirs. */
const besides =
  /^(hint|note|info|warning|npm warn|npm notice)\b|Log files were not written|complete log of this run|See above|originates from a subprocess|Command failed|Visit https|exit code \d+\.?$/i

test('a token with a control sequence in it is not shown, nor the rest of one through which the log is cut', () => {
  const token = `ghs_${'a1'.repeat(20)}`
  expect(cleanLog(`clone https://x:${token.slice(0, 12)}\u001b[0m${token.slice(12)}@h\n`).text).toBe(
    'clone https://x:[redacted]@h\n',
  )
  const cut = `${token}@h\n${'.'.repeat(999)}\n`
  for (let lost = 1; lost < token.length; lost++) {
    const rest = `${' '.repeat(65_535 - cut.length + lost)}\n`
    expect(cleanLog(`https://x:${cut}${rest}`).text).not.toContain('a1')
  }
})

describe('where no rule knows a failure', () => {
  test.each(all)('$name: no hint, note or footer is taken for its cause', ({ log }) => {
    const first = firstError(cleanLog(log).lines)
    expect(first?.text ?? '').not.toMatch(besides)
  })

  test.each([
    ['a hint at the end', ['error: no configuration', 'hint: See above for details.'], 'error: no configuration'],
    [
      'warnings before it',
      ['warning: slow disk', 'x.c:3: warning: unused', 'fatal: no table', 'note: read the guide'],
      'fatal: no table',
    ],
    [
      'only words',
      ['building', 'cannot connect to the database', 'info Visit https://example.com'],
      'cannot connect to the database',
    ],
    [
      'a header',
      ['ERROR: unable to select packages:', '  nope (no such package):'],
      'ERROR: unable to select packages: nope (no such package):',
    ],
    [
      'a wrapper alone',
      ['error: subprocess-exited-with-error', 'hint: See above for details.'],
      'error: subprocess-exited-with-error',
    ],
    [
      'a traceback, after what caused it',
      [
        'Traceback (most recent call last):',
        '  File "a.py", line 1, in <module>',
        "KeyError: 'A'",
        'During handling of the above exception, another exception occurred:',
        'Traceback (most recent call last):',
        '  File "a.py", line 2, in <module>',
        'django.core.exceptions.ImproperlyConfigured: set A',
      ],
      'django.core.exceptions.ImproperlyConfigured: set A',
    ],
    [
      'what a script wrote and npm repeats',
      ['npm error code 1', 'npm error throw new Error("x")', 'npm error Error: no API_KEY'],
      'Error: no API_KEY',
    ],
  ])('%s', (_what, lines, text) => {
    expect(firstError(lines)).toMatchObject({ text, isNamed: true })
  })

  test('a log without an error tells its last line, and nothing when that is a hint', () => {
    expect(firstError(['one', 'two', 'note: three'])).toMatchObject({ text: 'two', isNamed: false })
    expect(firstError(['hint: one'])).toBeUndefined()
  })
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
    'Traceback (most recent call last):\n',
    'The above exception was the direct cause\nTraceback (most recent call last):\n  x\n',
    'BackendUnavailable: \n',
    'File "<frozen os>", line 1, in __getitem__\n',
    'ERROR in a\n',
    'a\n 1:1 warning a\n',
    'ERR_PNPM_A a ',
    "error: command 'ccgcc",
    '➤ YN0035: │ ',
    'npm error ',
    'no such file or directory: ',
    '\u001b[31m',
    'é'.repeat(9),
  ]) {
    // As one line, and in lines that are as long as a line may be.
    const line = piece
      .repeat(Math.ceil(999 / piece.length))
      .replaceAll('\n', ' ')
      .slice(0, 999)
    for (const log of [piece.repeat(200_000), `${line}\n`.repeat(100)]) {
      const begin = process.threadCpuUsage()
      causeOf(log)
      expect(process.threadCpuUsage(begin).user, piece).toBeLessThan(2_000_000 * machineFactor())
    }
  }
})

test('a line of ten megabytes costs no more than its end', () => {
  const begin = process.threadCpuUsage()
  const cause = causeOf(`Error: ${'a'.repeat(10_000_000)}\nsekisho/node: error: npm run build failed with exit code 1\n`)
  expect(cause?.sentence).toMatch(/^npm run build failed with exit code 1/)
  expect(cause?.sentence.length).toBeLessThanOrEqual(500)
  expect(process.threadCpuUsage(begin).user).toBeLessThan(2_000_000 * machineFactor())
})
