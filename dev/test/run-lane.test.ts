// A lane runs its stages in order, goes on after one that failed unless later ones need it, and shows what each printed.
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { silentProgress } from '../cluster/progress.ts'
import { runLane } from './run-lane.ts'
import type { Stage } from './stages.ts'
import type { RunRecord } from './vitest/outcome-reporter.ts'

const logFolder = await mkdtemp(join(tmpdir(), 'lanes-'))
afterAll(() => rm(logFolder, { recursive: true, force: true }))

const script = (title: string, text: string, more: Partial<Stage> = {}): Stage => ({
  title,
  budget: 60,
  args: ['-e', text],
  ...more,
})

async function play(lane: readonly Stage[], missing?: string) {
  const printed: string[] = []
  const print = (text: string): void => void printed.push(text)
  const options = { repository: logFolder, environment: process.env, logFolder, progress: silentProgress, print }
  const result = await runLane(lane, options, missing)
  const outcomes = result.stages.map(({ outcome }) => outcome)
  return { ...result, outcomes, lines: result.stages.flatMap(({ lines }) => lines), printed }
}

test('stages run in order, with their environment, and what they print is shown and kept', async () => {
  const { stages, outcomes, lines, printed } = await play([
    script('one', 'console.log(process.env.GREETING); console.error("to standard error")', {
      environment: { GREETING: 'hello' },
    }),
    script('two (of 2)', 'console.log("second")'),
  ])
  expect(outcomes).toEqual(['passed', 'passed'])
  expect(lines).toEqual([])
  expect(stages[0]?.seconds).toBeGreaterThan(0)
  expect(printed).toHaveLength(2)
  expect(printed[0]).toContain('hello')
  expect(printed[0]).toContain('to standard error')
  expect(await readFile(join(logFolder, 'two-of-2.log'), 'utf8')).toBe('second\n')
})

test('a lane goes on after a stage that failed', async () => {
  const { outcomes, lines, missing, printed } = await play([
    script('fails', 'console.log("because"); process.exit(3)'),
    script('passes', ''),
  ])
  expect(outcomes).toEqual(['failed', 'passed'])
  expect(lines).toEqual(['failed: fails: because'])
  expect(missing).toBeUndefined()
  expect(printed.join()).toContain('because')
})

test('what needs a stage that failed is left out, and named', async () => {
  const { outcomes, lines, missing, printed } = await play([
    script('platform', 'console.log("no disk"); process.exit(1)', { isNeeded: true }),
    script('demo', ''),
  ])
  expect(outcomes).toEqual(['failed', 'left out'])
  expect(missing).toBe('it needs “platform”, which failed')
  expect(lines).toEqual(['failed: platform: no disk', `left out: demo: ${missing}`])
  expect(printed).toHaveLength(1)
  const next = await play([script('replicas', '')], missing)
  expect(next).toMatchObject({ outcomes: ['left out'], lines: [`left out: replicas: ${missing}`], missing, printed: [] })
})

test('a stage that is killed has failed', async () => {
  const { outcomes, lines } = await play([script('killed', 'process.kill(process.pid, "SIGKILL")')])
  expect(outcomes).toEqual(['failed'])
  expect(lines).toEqual(['failed: killed: it ended with SIGKILL'])
})

test('the lines of a program about what failed or was repeated are kept for the end', async () => {
  const kept = ['failed: a > two: Error: three', 'flaky: b > four: Error: five', 'again: node x.ts']
  const printed = ['✓ one', ...kept, 'not failed: six']
  const { lines } = await play([script('tests', `console.log(${JSON.stringify(printed.join('\n'))}); process.exit(1)`)])
  expect(lines).toEqual(kept)
})

/** A stage that leaves this record, as Vitest does, and fails. */
function recorded(record: RunRecord, more: Partial<Stage> = {}): Stage {
  const write = `require('fs').writeFileSync(process.env.SEKISHO_TEST_RECORD, ${JSON.stringify(JSON.stringify(record))})`
  return script('recorded', `${write}; process.exit(1)`, more)
}
const red = (file: string) => ({
  project: 'unit',
  file,
  seconds: 1,
  failures: [{ test: 'adds', error: 'Error: 3', seed: undefined }],
  skipped: [],
})

test('more than eight red files are one broken thing: each is named, and none is repeated', async () => {
  const files = Array.from({ length: 9 }, (_, number) => red(`${number}.test.ts`))
  const { outcomes, lines, printed } = await play([recorded({ files, stray: [] })])
  expect(outcomes).toEqual(['failed'])
  expect(lines[0]).toBe('failed: recorded: 9 files, more than 8: one broken thing, so none was repeated')
  expect(lines).toContain('failed: 8.test.ts > adds: Error: 3')
  expect(lines.filter(line => line.startsWith('again: '))).toHaveLength(9)
  expect(printed).toHaveLength(1)
})

test('a stage that repeats what failed by itself is not run again', async () => {
  const { outcomes, lines, printed } = await play([recorded({ files: [red('a.test.ts')], stray: [] }, { repeatsItself: true })])
  expect(outcomes).toEqual(['failed'])
  expect(lines[0]).toBe('failed: a.test.ts > adds: Error: 3')
  expect(printed).toHaveLength(1)
})

test('what follows a killed run of tests is no excuse for it', async () => {
  const record = JSON.stringify({ files: [red('a.test.ts')], stray: [] })
  const write = `require('fs').writeFileSync(process.env.SEKISHO_TEST_RECORD, ${JSON.stringify(record)})`
  const { outcomes, lines } = await play([script('killed at its end', `${write}; process.kill(process.pid, 'SIGKILL')`)])
  expect(outcomes).toEqual(['failed'])
  expect(lines[0]).toBe('failed: killed at its end: it ended with SIGKILL')
})

test('an error outside of all files fails the stage', async () => {
  const { outcomes, lines } = await play([recorded({ files: [], stray: ['socket hang up'] })])
  expect(outcomes).toEqual(['failed'])
  expect(lines).toEqual(['failed: recorded: outside of a test: socket hang up'])
})

test('a full disk is named with the cure', async () => {
  const { outcomes, lines } = await play([script('writes', "throw new Error('ENOSPC: no space left on device, write')")])
  expect(outcomes).toEqual(['failed'])
  expect(lines).toContain('failed: writes: a disk was full while it ran: free some of what df shows, and run it again')
})
