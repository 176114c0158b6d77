// What is measured of each process while a soak run goes on. A process that is being killed and started again is left out
// meanwhile.
import type { Measured } from './assertions.ts'
import { type MemorySample, memorySample, type Sample, sampleProcess } from './samples.ts'
import type { SoakProcess } from './soak-process.ts'

export type Measurements = {
  readonly processes: readonly Measured[]
  /** Files, sockets and metrics of every process, at so many seconds of the run. */
  readonly sample: (at: number) => Promise<void>
  /** Memory of every process after a collection. Resolves to a line about all of them. */
  readonly memory: (at: number) => Promise<string>
}

type Row = { readonly process: SoakProcess; readonly name: string; readonly samples: Sample[]; readonly memories: MemorySample[] }

export function createMeasurements(processes: readonly SoakProcess[]): Measurements {
  const rows = processes.map((process): Row => ({ process, name: process.name, samples: [], memories: [] }))
  return {
    processes: rows,
    async sample(at) {
      for (const { process, samples } of rows) {
        const sample = await unlessKilled(process, () => sampleProcess(process.pid(), process.healthUrl, at))
        if (sample !== undefined) samples.push(sample)
      }
    },
    async memory(at) {
      for (const { process, memories } of rows) {
        const usage = await unlessKilled(process, process.memory)
        if (usage !== undefined) memories.push(memorySample(usage, at))
      }
      const line = rows.map(({ name, memories, samples }) => {
        const now = memories.at(-1)
        const live = now?.liveMegabytes.toFixed(0) ?? '–'
        return `${name} ${now?.residentMegabytes.toFixed(0) ?? '–'} MB (${live} live), ${samples.at(-1)?.openFiles ?? '–'} files`
      })
      return line.join('; ')
    },
  }
}

/** Undefined when the process was killed before or meanwhile. */
async function unlessKilled<T>(process: SoakProcess, measure: () => Promise<T>): Promise<T | undefined> {
  if (!process.isUp()) return undefined
  const pid = process.pid()
  try {
    return await measure()
  } catch (error) {
    if (!process.isUp() || process.pid() !== pid) return undefined
    throw error
  }
}
