// Only commands that do what they are asked are measured: one that fails, or prints nothing, ends the bench.
import { expect, test } from 'vitest'
import { runOnce, timedRuns } from './timed-runs.ts'

const signal = new AbortController().signal
const program = (code: string) => ({ path: process.execPath, args: ['-e', code], environment: {} })

test('a run takes as long as the process lives', async () => {
  const { output, milliseconds } = await runOnce(program('setTimeout(() => console.log("done"), 300)'), signal)
  expect(output).toBe('done\n')
  expect(milliseconds).toBeGreaterThan(299)
})

test.each([
  ['fails', 'console.log("half"); console.error("no such thing"); process.exit(3)', 'ended with 3: no such thing'],
  ['prints nothing', 'process.exit(0)', 'ended with 0'],
])('a command that %s is refused', async (_, code, words) => {
  await expect(runOnce(program(code), signal)).rejects.toThrow(words)
})

test('CPU time is that of the commands', async () => {
  const busy = program('const end = Date.now() + 200; while (Date.now() < end); console.log(1)')
  const { operations, cpuSeconds = 0, latency } = await timedRuns(busy, 2, signal)
  expect(operations).toBe(2)
  // Ticks are 10 ms, and a busy machine gives a process less than it asks for.
  expect(cpuSeconds).toBeGreaterThan(0.05)
  expect(latency?.p50Milliseconds).toBeGreaterThan(199)
})
