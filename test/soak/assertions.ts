// The result of a soak run: one row for each promise, with its bound. Pure. Bounds: Pepr's thresholds for slopes (RSS below 1
// MB/min, files and sockets flat); a silent watch is detected within 60 s (docs/adr/0012); lost and duplicated effects are
// never allowed.
import { median } from '../bench/harness/statistics.ts'
import type { Effects } from './effects.ts'
import { growth, type MemorySample, type Sample, settled, slope, warmUpSeconds } from './samples.ts'

export type SoakRow = {
  readonly what: string
  readonly value: number
  readonly unit: string
  readonly atMost?: number
  /** Undefined: reported, not evaluated. */
  readonly met?: boolean
}

/** What was measured of one process. */
export type Measured = { readonly name: string; readonly samples: readonly Sample[]; readonly memories: readonly MemorySample[] }

export type SoakFacts = {
  readonly minutes: number
  readonly processes: readonly Measured[]
  /** For each watch that fell silent: seconds from its opening until it was replaced. */
  readonly silences: readonly number[]
  readonly effects: Effects
  readonly settledSeconds: number
  readonly tokensAlive: number
  readonly audit: { readonly repeated: readonly string[]; readonly verified: boolean; readonly entries: number }
  readonly delays: readonly number[]
  readonly counts: Readonly<Record<string, number>>
}

/** In shorter runs a slope describes single objects rather than a leak. */
const slopeMinutes = 10
/** The allocator takes and returns 10 to 20 MB at a time: in shorter runs one such step exceeds the bound. */
const residentMinutes = 30

type Bound = { readonly what: string; readonly value: number; readonly unit: string; readonly atMost: number }

/** `evaluated` false: the run is too short for this bound, the value is only reported. */
function bounded(bound: Bound, evaluated = true): SoakRow {
  const met = Number.isFinite(bound.value) && bound.value <= bound.atMost
  return { ...bound, ...(evaluated ? { met } : {}) }
}

/** Memory, open files and sockets of one process after the warm-up. */
function usageRows({ name, samples, memories }: Measured, minutes: number): readonly SoakRow[] {
  const from = warmUpSeconds(minutes)
  const calm = settled(samples, from)
  const calmMemories = settled(memories, from)
  const long = minutes >= slopeMinutes
  const atMostGrowth = (what: string, value: (sample: Sample) => number): SoakRow =>
    bounded({ what: `${name}: ${what}`, value: growth(calm, value), unit: '', atMost: 10 }, long)
  const perMinute = (what: string, value: (sample: MemorySample) => number, evaluated: boolean): SoakRow => {
    const points = calmMemories.map(sample => [sample.at / 60, value(sample)] as const)
    return bounded({ what: `${name}: ${what}`, value: slope(points), unit: 'MB/min', atMost: 1 }, evaluated)
  }
  const resident = median(calm.map(({ residentMegabytes }) => residentMegabytes))
  return [
    perMinute('live memory after a collection, slope', sample => sample.liveMegabytes, long),
    perMinute('resident memory after a collection, slope', sample => sample.residentMegabytes, minutes >= residentMinutes),
    {
      what: `${name}: live memory after a collection, median`,
      value: median(calmMemories.map(each => each.liveMegabytes)),
      unit: 'MB',
    },
    { what: `${name}: resident memory, median`, value: resident, unit: 'MB' },
    atMostGrowth('open files, growth', sample => sample.openFiles),
    atMostGrowth('sockets, growth', sample => sample.sockets),
  ]
}

export function evaluateSoak(facts: SoakFacts): readonly SoakRow[] {
  const none = (what: string, value: number): SoakRow => bounded({ what, value, unit: '', atMost: 0 })
  const seconds = (what: string, value: number, atMost: number): SoakRow => bounded({ what, value, unit: 's', atMost })
  const samples = facts.processes.flatMap(process => process.samples)
  const delays = [...facts.delays].sort((a, b) => a - b)
  return [
    none('effects lost', facts.effects.lost.length),
    none('effects twice', facts.effects.duplicate.length),
    none('tokens active under deleted grants', facts.tokensAlive),
    none('decisions recorded twice', facts.audit.repeated.length),
    none('audit chain broken', facts.audit.verified ? 0 : 1),
    seconds('time until the state was as expected after the last fault', facts.settledSeconds, 120),
    { what: 'warm-up, excluded from slopes and growth', value: warmUpSeconds(facts.minutes), unit: 's' },
    ...facts.processes.flatMap(process => usageRows(process, facts.minutes)),
    seconds('silent watch, from its opening until it was replaced, longest', Math.max(0, ...facts.silences), 60),
    seconds('longest silence about a kind', Math.max(0, ...samples.map(({ watchSilence }) => watchSilence)), 60),
    { what: 'Application until Deployment, median', value: median(delays), unit: 's' },
    { what: 'Application until Deployment, worst', value: delays.at(-1) ?? Number.NaN, unit: 's' },
    ...Object.entries(facts.counts).map(([what, value]) => ({ what, value, unit: '' })),
  ]
}
