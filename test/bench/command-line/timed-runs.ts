// Runs a command again and again, one run after the other, as a person or kubectl starts it: from the start of the process to
// its end. Each run must succeed and print something, otherwise an error message would be measured.
import { spawn } from 'node:child_process'
import { AppError } from '../../../src/lib/errors.ts'
import type { Run } from '../harness/bench.ts'
import { childrenCpuSeconds } from '../harness/process-usage.ts'
import { percentile } from '../harness/statistics.ts'

export type Command = {
  readonly path: string
  readonly args: readonly string[]
  /** Its whole environment. */
  readonly environment: Readonly<Record<string, string>>
}

/** The first ones fill the caches of the command and of the kernel. */
const warmUps = 3
const keptErrorOutput = 2000

/** Resolves to what the command printed and to the milliseconds that it took. Rejects with its error output when it fails. */
export function runOnce(
  { path, args, environment }: Command,
  signal: AbortSignal,
): Promise<{ readonly output: string; readonly milliseconds: number }> {
  return new Promise((resolve, reject) => {
    const started = performance.now()
    const child = spawn(path, args, { stdio: ['ignore', 'pipe', 'pipe'], env: environment, signal })
    const output: Buffer[] = []
    let errors = ''
    child.stdout.on('data', (chunk: Buffer) => output.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => {
      errors = (errors + chunk.toString('utf8')).slice(-keptErrorOutput)
    })
    child.once('error', reject)
    child.once('close', code => {
      const milliseconds = performance.now() - started
      if (code === 0 && output.length > 0) resolve({ output: Buffer.concat(output).toString('utf8'), milliseconds })
      else reject(new AppError('upstream_failed', `${path} ${args.join(' ')} ended with ${code}: ${errors.trim()}`))
    })
  })
}

/** `count` measured runs. Nothing else may be a child of this process that ends meanwhile: their CPU time is counted together. */
export async function timedRuns(command: Command, count: number, signal: AbortSignal): Promise<Run> {
  for (let run = 0; run < warmUps; run++) await runOnce(command, signal)
  const all: number[] = []
  const cpuBefore = await childrenCpuSeconds()
  const started = performance.now()
  for (let run = 0; run < count; run++) all.push((await runOnce(command, signal)).milliseconds)
  return {
    operations: count,
    wallSeconds: (performance.now() - started) / 1000,
    cpuSeconds: (await childrenCpuSeconds()) - cpuBefore,
    latency: { p50Milliseconds: percentile(all, 50), p99Milliseconds: percentile(all, 99) },
  }
}
