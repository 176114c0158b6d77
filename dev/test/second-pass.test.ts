// What a lane makes of a project of Vitest in which something fails: a real one, in a folder of its own.
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { silentProgress } from '../cluster/progress.ts'
import { runLane, type StageResult } from './run-lane.ts'
import { vitestArguments } from './stages.ts'

const repository = join(import.meta.dirname, '../..')
const folder = await mkdtemp(join(tmpdir(), 'second-pass-'))
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Fails in its first process only. */
const failsOnce = (name: string): string => `
  import { existsSync, writeFileSync } from 'node:fs'
  const wasHere = existsSync('${name}.seen')
  writeFileSync('${name}.seen', '')`

const files = {
  // Set up like the repository's own; the folder is the root, and its files are those of `include`.
  'vitest.config.ts': `
    const setupFiles = process.env.SEKISHO_SEED === undefined ? [] : ['dev/test/vitest/replay-seed.ts']
    const projects = ['tiny', 'stop', 'long'].map(name => ({
      test: { name, setupFiles, include: [name + '-*.test.ts'], globalSetup: name === 'stop' ? ['stop-setup.ts'] : [] },
    }))
    export default { cacheDir: 'cache', test: { projects } }`,
  'tiny-green.test.ts': `import { test } from 'vitest'; test('is green', () => {})`,
  'tiny-flaky.test.ts': `${failsOnce('tiny')}
    import { describe, expect, test } from 'vitest'
    describe('it (1)', () => {
      test("isn't ready at first", () => expect(wasHere).toBe(true))
      test('is green', () => {})
    })`,
  'tiny-red.test.ts': `
    import fc from 'fast-check'
    import { test } from 'vitest'
    test('all are small', () => fc.assert(fc.property(fc.nat(), value => value < 100)))`,
  // As a test of a form of the platform that no longer runs.
  'tiny-skipped.test.ts': `${failsOnce('skipped')}
    import { expect, test } from 'vitest'
    test.skipIf(wasHere)('runs only once', () => expect(wasHere).toBe(true))`,
  'tiny-stray.test.ts': `${failsOnce('stray')}
    import { test } from 'vitest'
    test('forgets a promise', async () => {
      if (!wasHere) Promise.reject(new Error('forgotten'))
      await new Promise(resolve => setImmediate(resolve))
    })`,
  // As a process that a defect of Node.js ends.
  'tiny-crash.test.ts': `${failsOnce('crash')}
    import { test } from 'vitest'
    test('ends its process', async () => {
      if (wasHere) return
      process.kill(process.pid, 'SIGSEGV')
      await new Promise(() => {})
    })`,
  'stop-flaky.test.ts': `${failsOnce('stop')}
    import { expect, test } from 'vitest'
    test('is flaky', () => expect(wasHere).toBe(true))`,
  'long-red.test.ts': `
    import { expect, test } from 'vitest'
    test('fails in its long form', () => expect(process.env.SEKISHO_LONG).toBeUndefined())`,
  // Judges at the end, as the fixture that finds requests without a right does.
  'stop-setup.ts': `
    export const setup = () => () => {
      if (process.env.SEKISHO_TEST_AGAIN === undefined) throw new Error('a request without a right')
    }`,
}

type Played = { readonly stage: StageResult | undefined; readonly printed: readonly string[] }
let tiny: Played
let stop: Played
let long: Played
beforeAll(async () => {
  for (const name of ['node_modules', 'dev', 'src']) await symlink(join(repository, name), join(folder, name))
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  tiny = await playProject('tiny')
  stop = await playProject('stop')
  long = await playProject('long', { SEKISHO_LONG: '1' })
})

async function playProject(project: string, environment = {}): Promise<Played> {
  const printed: string[] = []
  const { stages } = await runLane([{ title: project, budget: 60, args: vitestArguments([project]), environment }], {
    repository: folder,
    // This test may itself run in a second pass, of a run that plays long forms.
    environment: { ...process.env, SEKISHO_TEST_AGAIN: undefined, SEKISHO_LONG: undefined },
    logFolder: join(folder, 'logs'),
    progress: silentProgress,
    print: text => void printed.push(text),
  })
  return { stage: stages[0], printed }
}

test('red files run once more alone: green then is flaky, red again has both errors, and the command repeats a property exactly', async () => {
  const { stage, printed } = tiny
  expect(stage?.outcome).toBe('failed')
  expect(stage?.files.map(({ file }) => file).sort()).toEqual(
    Object.keys(files)
      .filter(name => name.startsWith('tiny-'))
      .sort(),
  )
  expect(stage?.files.every(({ seconds }) => seconds >= 0)).toBe(true)
  expect(printed.map(text => text.split('\n')[1]).sort()).toEqual([
    '──── once more: tiny-crash.test.ts',
    '──── once more: tiny-flaky.test.ts',
    '──── once more: tiny-red.test.ts',
    '──── once more: tiny-skipped.test.ts',
    '──── once more: tiny-stray.test.ts',
    '──── tiny',
  ])
  const about = (file: string): readonly string[] => stage?.lines.filter(line => line.includes(file)) ?? []
  expect(about('tiny-flaky')).toEqual([
    "flaky: tiny-flaky.test.ts > it (1) > isn't ready at first: expected false to be true // Object.is equality || (second: passed)",
    String.raw`again: npx vitest run --project 'tiny' 'tiny-flaky.test.ts' -t '^it \(1\) > isn'\''t ready at first( > |$)'`,
  ])
  expect(about('tiny-skipped')[0]).toMatch(/^failed: tiny-skipped.test.ts > runs only once: .* \|\| \(second: it did not run\)$/)
  expect(about('tiny-stray')).toEqual([
    'flaky: tiny-stray.test.ts: forgotten || (second: passed)',
    "again: npx vitest run --project 'tiny' 'tiny-stray.test.ts'",
  ])
  const [crashed, ...others] = about('tiny-crash')
  expect(crashed).toMatch(
    /^flaky: tiny-crash.test.ts: Worker exited unexpectedly with signal SIGSEGV .* \|\| \(second: passed\)$/,
  )
  expect(others).toEqual(["again: npx vitest run --project 'tiny' 'tiny-crash.test.ts'"])
  const [failed, again = ''] = about('tiny-red')
  expect(failed).toMatch(
    /^failed: tiny-red.test.ts > all are small: Property failed after .* \|\| \(second: Property failed after/,
  )
  const [, seed] = /^again: SEKISHO_SEED='(.*?)' /.exec(again) ?? []
  const text = await paste(again.replace('again: ', ''))
  const [number, ...path] = (seed ?? '').split(':')
  expect(text).toContain(`Property failed after 1 tests\n{ seed: ${number}, path: "${path.join(':')}"`)
})

/** What a person sees who runs the line, which fails again. */
async function paste(line: string): Promise<string> {
  const run = promisify(execFile)('sh', ['-c', line], { cwd: folder })
  return run.then(
    ({ stdout }) => stdout,
    ({ stdout, stderr }: { stdout: string; stderr: string }) => stdout + stderr,
  )
}

test('what fails while the shared fixtures stop is not excused by files that are green the second time', async () => {
  const { stage } = stop
  expect(stage?.outcome).toBe('failed')
  expect(stage?.lines).toEqual([
    'failed: stop: error during close Error: a request without a right',
    'flaky: stop-flaky.test.ts > is flaky: expected false to be true // Object.is equality || (second: passed)',
    "again: npx vitest run --project 'stop' 'stop-flaky.test.ts' -t '^is flaky( > |$)'",
  ])
  expect(await readFile(join(folder, 'logs/once-more-stop-flaky-test-ts.log'), 'utf8')).toContain('1 passed')
})

test('the second pass is in the environment of the stage, and so is the command: what failed in its long form is not repeated in the short one', () => {
  expect(long.stage?.outcome).toBe('failed')
  expect(long.stage?.lines).toEqual([
    expect.stringMatching(/^failed: long-red.test.ts > .* \|\| \(second: expected '1' to be undefined\)$/),
    "again: SEKISHO_LONG='1' npx vitest run --project 'long' 'long-red.test.ts' -t '^fails in its long form( > |$)'",
  ])
})
