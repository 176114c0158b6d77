// One run of one side: a number of Applications exist and the controller is ready and started; measured until every child
// exists. The usage of the API server and its store is measured too, which shows which of them was the limit.
import { cpus } from 'node:os'
import type { Run } from '../harness/bench.ts'
import { usageOf } from '../harness/process-usage.ts'
import { type MeasuredProgram, type ProgramOptions, startProgram } from '../harness/program.ts'
import { allChildrenExist, allMade, allReported, createApplications, deleteEverything } from './applications.ts'
import type { Fixture } from './fixture.ts'
import type { MadeObjects } from './observed/made-objects.ts'
import { servedRequests } from './observed/served-requests.ts'

export const coldStartFigures = {
  reported: 'every status too, wall s',
  servers: 'API server and etcd, CPU s per 1,000',
  serversShare: 'API server and etcd, share of the processors',
  controllerShare: 'controller, share of the processors',
  reconciles: 'reconciles per Application',
  writes: 'writes per Application, by the API server',
  refused: 'of them refused',
  reads: 'reads per Application, by the API server',
} as const

async function cpuSecondsOf(pids: readonly number[]): Promise<number> {
  const all = await Promise.all(pids.map(usageOf))
  return all.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0)
}

export function hopeless(program: MeasuredProgram, signal: AbortSignal): () => Promise<string | undefined> {
  return async () => program.problem() ?? (signal.aborted ? 'the time is over' : undefined)
}

export async function memoryOf(program: MeasuredProgram, signal: AbortSignal): Promise<{ heapBytes: number; rssBytes: number }> {
  const { heapBytes } = await program.call({ do: 'memory' }, signal)
  const { rssBytes } = await program.usage()
  return { heapBytes: Number(heapBytes), rssBytes }
}

type Start = {
  readonly program: MeasuredProgram
  readonly count: number
  readonly command: object
  /** Receives what was made. */
  readonly made: (made: MadeObjects) => void
}

async function measure({ admin, servers }: Fixture, { program, count, command, made }: Start, signal: AbortSignal): Promise<Run> {
  const requestsBefore = await servedRequests(admin)
  const [serversBefore, before] = await Promise.all([cpuSecondsOf(servers), program.usage()])
  const started = performance.now()
  const elapsed = (): number => (performance.now() - started) / 1000
  await program.call({ do: 'start', ...command }, signal)
  await allChildrenExist(admin, count, hopeless(program, signal))
  const wallSeconds = elapsed()
  const [serversAfter, after] = await Promise.all([cpuSecondsOf(servers), program.usage()])
  await allReported(admin, count, hopeless(program, signal))
  const reported = elapsed()
  made(await allMade(admin, count, hopeless(program, signal)))
  const requests = await servedRequests(admin)
  const { reconciles } = await program.call({ do: 'count' }, signal)
  const cpuSeconds = after.cpuSeconds - before.cpuSeconds
  const serversSeconds = serversAfter - serversBefore
  const processorSeconds = wallSeconds * cpus().length
  return {
    operations: count,
    wallSeconds,
    cpuSeconds,
    ...(await memoryOf(program, signal)),
    figures: {
      [coldStartFigures.reported]: reported,
      [coldStartFigures.servers]: (serversSeconds / count) * 1000,
      [coldStartFigures.serversShare]: serversSeconds / processorSeconds,
      [coldStartFigures.controllerShare]: cpuSeconds / processorSeconds,
      [coldStartFigures.reconciles]: Number(reconciles) / count,
      [coldStartFigures.writes]: (requests.writes - requestsBefore.writes) / count,
      [coldStartFigures.refused]: (requests.refused - requestsBefore.refused) / count,
      [coldStartFigures.reads]: (requests.reads - requestsBefore.reads) / count,
    },
  }
}

/** Finds the cluster empty and leaves it empty. `command` is added to the start command. */
export async function coldStart(
  fixture: Fixture,
  options: Pick<Start, 'count'> & Partial<Pick<Start, 'command' | 'made'>> & { readonly program: ProgramOptions },
  signal: AbortSignal,
): Promise<Run> {
  const { count, command = {}, made = () => {} } = options
  const program = await startProgram({ ...options.program, environment: { KUBECONFIG: fixture.kubeconfig } }, signal)
  try {
    await createApplications(fixture.admin, count)
    return await measure(fixture, { program, count, command, made }, signal)
  } finally {
    await program.stop()
    await deleteEverything(fixture.admin)
  }
}
