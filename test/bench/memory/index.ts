// Bench `memory`: the resident memory of each process of the platform after work like the demo's, at rest, and what holds it.
import { setTimeout as wait } from 'node:timers/promises'
import type { Bench, BenchContext, Figure, Measurement } from '../harness/bench.ts'
import { figureAtMost } from '../harness/goals.ts'
import type { MeasuredProcess } from './measured-process.ts'
import { type MemoryPlatform, openMemoryPlatform } from './platform.ts'
import { doWork, type WorkSizes } from './work.ts'

const full: WorkSizes = { signIns: 5, applications: 45, pushes: 20, tokens: 30, reviews: 500 }
const megabyte = 1024 * 1024
/** Longer than what the platform keeps ready for a minute after its last use, such as the threads of charts. */
const unusedMilliseconds = 90_000

function sized(scale: number): WorkSizes {
  const some = (count: number): number => Math.max(1, Math.round(count * scale))
  return {
    signIns: some(full.signIns),
    applications: some(full.applications),
    pushes: some(full.pushes),
    tokens: some(full.tokens),
    reviews: some(full.reviews),
  }
}

const resident = (name: string): string => `${name}: resident after the work, at rest`

async function atStart(process: MeasuredProcess): Promise<readonly Figure[]> {
  await process.atRest()
  const { residentBytes } = await process.memory()
  return [{ label: `${process.name}: resident after the start`, value: residentBytes / megabyte, unit: 'MB' }]
}

async function afterwards(process: MeasuredProcess, note: (message: string) => void): Promise<readonly Figure[]> {
  await process.atRest()
  const { residentBytes, anonymousBytes, mappings } = await process.memory()
  const childrenBytes = await process.childrenBytes()
  const isolates = await process.isolates({ collect: false })
  const [collected] = await process.isolates({ collect: true })
  const figure = (label: string, bytes: number): Figure => ({
    label: `${process.name}: ${label}`,
    value: bytes / megabyte,
    unit: 'MB',
  })
  for (const { name, residentBytes, sizeBytes } of mappings.slice(0, 12))
    note(`${process.name}: ${(residentBytes / megabyte).toFixed(1)} of ${(sizeBytes / megabyte).toFixed(1)} MB resident: ${name}`)
  return [
    { ...figure('', residentBytes), label: resident(process.name) },
    figure('of it not in files', anonymousBytes),
    ...isolates.flatMap(({ thread, committedBytes, externalBytes }) => [
      figure(`heap of the thread ${thread}`, committedBytes),
      figure(`buffers and WebAssembly of the thread ${thread}`, externalBytes),
    ]),
    // The source store: in a pod it is a container of its own.
    ...(childrenBytes > 0 ? [figure('child processes, in addition', childrenBytes)] : []),
    figure('objects of the main thread after a collection', collected?.usedBytes ?? Number.NaN),
  ]
}

async function measure(platform: MemoryPlatform, scale: number, note: (message: string) => void, signal: AbortSignal) {
  const before: Figure[] = []
  for (const process of platform.processes) before.push(...(await atStart(process)))
  note('at rest after the start')
  await doWork(platform, sized(scale), signal)
  note('work done')
  await wait(unusedMilliseconds, undefined, { signal })
  const after: Figure[] = []
  for (const process of platform.processes) after.push(...(await afterwards(process, note)))
  return [...before, ...after]
}

function measurement(form: 'standalone' | 'production', { scale, note }: BenchContext): Measurement {
  const titles = {
    standalone: 'one process on the embedded database',
    production: 'broker, controllers, admission and data-services as processes of their own on PostgreSQL, one replica of each',
  }
  const bounds = {
    standalone: [figureAtMost(resident('standalone'), 350)],
    production: [
      ...['broker', 'controllers', 'admission'].map(name => figureAtMost(resident(name), 200)),
      figureAtMost(resident('data-services'), 120),
    ],
  }
  return {
    name: form,
    title: titles[form],
    async run(signal) {
      const platform = await openMemoryPlatform(form)
      try {
        return await measure(platform, scale, note, signal)
      } finally {
        await platform.close()
      }
    },
    goals: bounds[form],
  }
}

export const memory: Bench = {
  name: 'memory',
  title: 'the memory of each process of the platform after onboarding, sign-ins, Applications, pushes, tokens and reviews',
  budgetSeconds: 1200,
  async open(context) {
    const measurements = [measurement('standalone', context), measurement('production', context)]
    return { comparisons: [], measurements, close: async () => {} }
  },
}
