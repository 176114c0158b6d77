// What a long run must end with: one row a promise, with its bound. Pure.
// Bounds: Pepr's thresholds for slopes (RSS below 1 MB/min, files and sockets flat); a silent watch is found within 60 s (docs/adr/0012);
// lost and duplicate effects are never allowed.
import { median } from '../bench/harness/statistics.ts'
import type { Effects } from './effects.ts'
import { growth, type MemorySample, type Sample, settled, slope } from './samples.ts'

export type SoakRow = {
  readonly what: string
  readonly value: number
  readonly unit: string
  readonly atMost?: number
  /** Undefined: told, not judged. */
  readonly met?: boolean
}

export type SoakFacts = {
  readonly minutes: number
  readonly samples: readonly Sample[]
  readonly memories: readonly MemorySample[]
  /** Of each watch that fell silent: seconds from its opening until it was replaced. */
  readonly silences: readonly number[]
  readonly effects: Effects
  readonly settledSeconds: number
  readonly tokensAlive: number
  readonly audit: { readonly repeated: readonly string[]; readonly verified: boolean; readonly entries: number }
  readonly delays: readonly number[]
  readonly counts: Readonly<Record<string, number>>
}

/** Below this a slope says more about single objects than about a leak. */
const judgedMinutes = 10
/** The allocator takes and gives back 10 to 20 MB at a time: below this its steps are larger than what the bound allows in all. */
const residentMinutes = 30

export function judgeSoak(facts: SoakFacts): readonly SoakRow[] {
  const calm = settled(facts.samples)
  const long = facts.minutes >= judgedMinutes
  const bounded = (what: string, value: number, unit: string, atMost: number, judged = true): SoakRow => {
    const met = Number.isFinite(value) && value <= atMost
    return { what, value, unit, atMost, ...(judged ? { met } : {}) }
  }
  const memories = settled(facts.memories)
  const perMinute = (value: (sample: MemorySample) => number): number =>
    slope(memories.map(sample => [sample.at / 60, value(sample)] as const))
  const delays = [...facts.delays].sort((a, b) => a - b)
  return [
    bounded('effects lost', facts.effects.lost.length, '', 0),
    bounded('effects twice', facts.effects.duplicate.length, '', 0),
    bounded('tokens alive under grants that are gone', facts.tokensAlive, '', 0),
    bounded('decisions recorded twice', facts.audit.repeated.length, '', 0),
    bounded('audit chain broken', facts.audit.verified ? 0 : 1, '', 0),
    bounded('time until everything was right after the last trouble', facts.settledSeconds, 's', 120),
    { what: 'warm-up, in no slope and no growth', value: calm[0]?.at ?? Number.NaN, unit: 's' },
    bounded(
      'live memory after a collection, slope',
      perMinute(({ liveMegabytes }) => liveMegabytes),
      'MB/min',
      1,
      long,
    ),
    bounded(
      'resident memory after a collection, slope',
      perMinute(({ residentMegabytes }) => residentMegabytes),
      'MB/min',
      1,
      facts.minutes >= residentMinutes,
    ),
    { what: 'live memory after a collection, median', value: median(memories.map(each => each.liveMegabytes)), unit: 'MB' },
    { what: 'resident memory, median', value: median(calm.map(({ residentMegabytes }) => residentMegabytes)), unit: 'MB' },
    bounded(
      'open files, growth',
      growth(calm, ({ openFiles }) => openFiles),
      '',
      10,
      long,
    ),
    bounded(
      'sockets, growth',
      growth(calm, ({ sockets }) => sockets),
      '',
      10,
      long,
    ),
    bounded('silent watch, from its opening until it was replaced, longest', Math.max(0, ...facts.silences), 's', 60),
    bounded('longest silence about a kind', Math.max(0, ...facts.samples.map(({ watchSilence }) => watchSilence)), 's', 60),
    { what: 'Application until Deployment, median', value: median(delays), unit: 's' },
    { what: 'Application until Deployment, worst', value: delays.at(-1) ?? Number.NaN, unit: 's' },
    ...Object.entries(facts.counts).map(([what, value]) => ({ what, value, unit: '' })),
  ]
}
