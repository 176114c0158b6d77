// One run of one side: a server process under load (closed or open loop) from a generator process, each pinned to its own
// processor if possible, with the server's CPU time. A run with a wrong answer is not a run: it is an error.
import { join } from 'node:path'
import type { Run } from '../harness/bench.ts'
import { pinning } from '../harness/machine.ts'
import { type MeasuredProgram, type ProgramOptions, startProgram } from '../harness/program.ts'
import type { LoadPlan } from './planned-request.ts'

export type ServerRun = {
  /** Answers every command with at least `{port}`, and with the `authority` of its certificate when the plan has none. */
  readonly server: ProgramOptions
  readonly plan: Omit<LoadPlan, 'port'>
  readonly seconds: number
  /** Do not pin server and generator to processors. */
  readonly spread?: boolean
  /**
   * Checks the server after the load: `answered` is the number of requests including the warm-up. Throws when the result is
   * wrong.
   */
  readonly afterwards?: (server: MeasuredProgram, answered: number, signal: AbortSignal) => Promise<void>
}

/** A pause of the generator for its own garbage would count as one of the server: it has room for what a run allocates. */
const noCollections = ['--min-semi-space-size=64', '--max-semi-space-size=64']

export const generator: ProgramOptions = {
  name: 'load generator',
  path: process.execPath,
  args: [...noCollections, join(import.meta.dirname, 'generator-process.ts')],
}

function numberIn(answer: Readonly<Record<string, unknown>>, field: string): number {
  const value = answer[field]
  if (typeof value !== 'number') throw new Error(`an answer without ${field}`)
  return value
}

function noFailures(answer: Readonly<Record<string, unknown>>, server: string): void {
  const failures = numberIn(answer, 'failures')
  if (failures > 0) throw new Error(`${server} gave ${failures} answers that were not the expected ones`)
}

/** Starts a new server, so that no side inherits caches, heap or rows of the run before. */
export async function measureServer(run: ServerRun, signal: AbortSignal): Promise<Run> {
  const processors = run.spread === true ? {} : await pinning()
  const pinned = (options: ProgramOptions, processor: number | undefined): ProgramOptions =>
    processor === undefined ? options : { ...options, processor }
  const server = await startProgram(pinned(run.server, processors.measured), signal)
  try {
    const load = await startProgram(pinned(generator, processors.generator), signal)
    try {
      const answer = await server.call({ do: 'port' }, signal)
      const { authority = run.plan.authority } = answer
      const plan = { ...run.plan, authority, port: numberIn(answer, 'port') }
      noFailures(await load.call({ do: 'open', plan }, signal), run.server.name)
      const before = await server.usage()
      const result = await load.call({ do: 'run', seconds: run.seconds }, signal)
      const after = await server.usage()
      noFailures(result, run.server.name)
      await load.call({ do: 'close' }, signal)
      await run.afterwards?.(server, run.plan.warmUpRequests + numberIn(result, 'requests'), signal)
      return {
        operations: numberIn(result, 'requests'),
        wallSeconds: numberIn(result, 'wallSeconds'),
        cpuSeconds: after.cpuSeconds - before.cpuSeconds,
        latency: {
          p50Milliseconds: numberIn(result, 'p50Milliseconds'),
          p99Milliseconds: numberIn(result, 'p99Milliseconds'),
        },
        rssBytes: after.rssBytes,
      }
    } finally {
      await load.stop()
    }
  } finally {
    await server.stop()
  }
}
