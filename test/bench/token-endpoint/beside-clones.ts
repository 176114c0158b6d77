// How long the desk takes to answer while its process passes on clones, beside how long it takes without: so many requests are
// due each second, whatever the answers do.
import { join } from 'node:path'
import type { Figure, Measurement } from '../harness/bench.ts'
import { figureAtMost } from '../harness/goals.ts'
import { pinning } from '../harness/machine.ts'
import { type MeasuredProgram, type ProgramOptions, startProgram } from '../harness/program.ts'
import { generator } from '../load/measure-server.ts'
import { type BenchTenant, grantName, plannedRequest } from './tenants.ts'
import { fillRegistry, type World } from './world.ts'

const clones = 50
const cloneGrants = 5
/** Of one clone. */
const megabytes = 100
const perSecond = 50
const connections = 96
/** Long enough that clones end and begin again, all at about the same time. */
const seconds = 30
const ratioLabel = `p99 of the desk with ${clones} clones ÷ without`

export function startClones(): Promise<MeasuredProgram> {
  const args = [join(import.meta.dirname, 'clones-process.ts'), String(megabytes)]
  return startProgram({ name: 'clones', path: process.execPath, args })
}

export type Beside = {
  readonly world: World
  readonly desk: ProgramOptions
  readonly clones: MeasuredProgram
  readonly workloads: readonly BenchTenant[]
  readonly scale: number
}

type Answered = { readonly p50: number; readonly p99: number }

async function paced(load: MeasuredProgram, lasting: number, signal: AbortSignal): Promise<Answered> {
  const { failures, p50Milliseconds, p99Milliseconds } = await load.call({ do: 'run', seconds: lasting }, signal)
  if (failures !== 0) throw new Error(`the desk gave ${String(failures)} answers that were not the expected ones`)
  return { p50: Number(p50Milliseconds), p99: Number(p99Milliseconds) }
}

async function measure(
  { world, desk, clones: program, workloads, scale }: Beside,
  signal: AbortSignal,
): Promise<readonly Figure[]> {
  const bearers = (await world.tenants('clone', cloneGrants, 'GitProxy')).map(({ bearer }) => bearer)
  const processors = await pinning()
  const pinned = (options: ProgramOptions, processor: number | undefined): ProgramOptions =>
    processor === undefined ? options : { ...options, processor }
  return world.databases.withNew(async database => {
    await fillRegistry(world, database, workloads)
    const environment = { ...desk.environment, ...database }
    const server = await startProgram(pinned({ ...desk, environment }, processors.measured), signal)
    try {
      const load = await startProgram(pinned(generator, processors.generator), signal)
      try {
        const { port, gitProxyPort, authority } = await server.call({ do: 'port' }, signal)
        const plan = { port, authority, protocol: 'http/1.1', connections, ownAddresses: true, streams: 1, perSecond }
        const requests = workloads.map(plannedRequest)
        await load.call({ do: 'open', plan: { ...plan, warmUpRequests: 500, requests } }, signal)
        const lasting = Math.max(1, seconds * scale)
        const alone = await paced(load, lasting, signal)
        await program.call({ do: 'start', port: gitProxyPort, authority, bearers, grant: grantName, count: clones }, signal)
        const started = performance.now()
        const beside = await paced(load, lasting, signal)
        const { done } = await program.call({ do: 'stop' }, signal)
        const lasted = (performance.now() - started) / 1000
        await load.call({ do: 'close' }, signal)
        return [
          { label: `${perSecond} due each second, p50 without clones`, value: alone.p50, unit: 'ms' },
          { label: `${perSecond} due each second, p99 without clones`, value: alone.p99, unit: 'ms' },
          { label: `${perSecond} due each second, p50 with ${clones} clones`, value: beside.p50, unit: 'ms' },
          { label: `${perSecond} due each second, p99 with ${clones} clones`, value: beside.p99, unit: 'ms' },
          { label: ratioLabel, value: beside.p99 / alone.p99, unit: '' },
          { label: `clones of ${megabytes} MB that ended meanwhile`, value: Number(done) / lasted, unit: 'a second' },
        ]
      } finally {
        await load.stop()
      }
    } finally {
      await server.stop()
    }
  })
}

export function besideClones(beside: Beside): Measurement {
  return {
    name: 'beside clones',
    title: `${clones} clones of ${megabytes} MB at once through the git proxy of the same process, as fast as it passes them on`,
    run: signal => measure(beside, signal),
    goals: [figureAtMost(ratioLabel, 2)],
  }
}
