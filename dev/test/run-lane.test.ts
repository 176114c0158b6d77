// A lane runs its stages in order, ends with the first that fails, and shows what each printed.
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { silentProgress } from '../cluster/progress.ts'
import { runLane } from './run-lane.ts'
import type { Stage } from './stages.ts'

const logFolder = await mkdtemp(join(tmpdir(), 'lanes-'))
afterAll(() => rm(logFolder, { recursive: true, force: true }))

const script = (title: string, text: string, environment: Record<string, string> = {}): Stage => ({
  title,
  args: ['-e', text],
  environment,
})

async function play(lane: readonly Stage[]) {
  const printed: string[] = []
  const result = await runLane(lane, {
    repository: logFolder,
    environment: process.env,
    logFolder,
    progress: silentProgress,
    print: text => void printed.push(text),
  })
  return { result, printed }
}

test('stages run in order, with their environment, and what they print is shown and kept', async () => {
  const { result, printed } = await play([
    script('one', 'console.log(process.env.GREETING); console.error("to standard error")', { GREETING: 'hello' }),
    script('two (of 2)', 'console.log("second")'),
  ])
  expect(result).toEqual({ passed: 2, failed: undefined, outcomes: [] })
  expect(printed).toHaveLength(2)
  expect(printed[0]).toContain('hello')
  expect(printed[0]).toContain('to standard error')
  expect(await readFile(join(logFolder, 'two-of-2.log'), 'utf8')).toBe('second\n')
})

test('a lane ends with its first stage that fails', async () => {
  const { result, printed } = await play([
    script('passes', ''),
    script('fails', 'console.log("because"); process.exit(3)'),
    script('never', ''),
  ])
  expect(result).toEqual({ passed: 1, failed: 'fails', outcomes: ['failed: fails: because'] })
  expect(printed.join()).toContain('because')
  expect(printed).toHaveLength(2)
})

test('a stage that is killed has failed', async () => {
  const { result } = await play([script('killed', 'process.kill(process.pid, "SIGKILL")')])
  expect(result).toEqual({ passed: 0, failed: 'killed', outcomes: [] })
})

test('the lines of tests that failed or were repeated are kept for the end', async () => {
  const lines = ['✓ one', 'failed: a.test.ts > two: Error: three', 'flaky: b.test.ts > four: Error: five', 'not failed: six']
  const { result } = await play([script('tests', `console.log(${JSON.stringify(lines.join('\n'))}); process.exit(1)`)])
  expect(result.outcomes).toEqual(lines.slice(1, 3))
})
