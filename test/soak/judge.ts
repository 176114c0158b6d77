// What a long run must end with: one row a promise, with its bound. Pure.
// Bounds: Pepr's thresholds for slopes and watches (performance reference, H.1.19); lost and duplicate effects are never allowed.

import { median } from '../bench/harness/statistics.ts'
import type { Effects } from './effects.ts'
import { growth, type Sample, settled, slope } from './samples.ts'

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
  readonly effects: Effects
  readonly settledSeconds: number
  readonly tokensAlive: number
  readonly audit: { readonly repeated: readonly string[]; readonly verified: boolean; readonly entries: number }
  readonly delays: readonly number[]
  readonly counts: Readonly<Record<string, number>>
}

/** Below this a slope says more about the garbage collector than about a leak. */
const judgedMinutes = 10

export function judgeSoak(facts: SoakFacts): readonly SoakRow[] {
  const calm = settled(facts.samples)
  const long = facts.minutes >= judgedMinutes
  const bounded = (what: string, value: number, unit: string, atMost: number, judged = true): SoakRow => {
    const met = Number.isFinite(value) && value <= atMost
    return { what, value, unit, atMost, ...(judged ? { met } : {}) }
  }
  const residentSlope = slope(calm.map(({ at, residentMegabytes }) => [at / 60, residentMegabytes]))
  const delays = [...facts.delays].sort((a, b) => a - b)
  return [
    bounded('effects lost', facts.effects.lost.length, '', 0),
    bounded('effects twice', facts.effects.duplicate.length, '', 0),
    bounded('tokens alive under grants that are gone', facts.tokensAlive, '', 0),
    bounded('decisions recorded twice', facts.audit.repeated.length, '', 0),
    bounded('audit chain broken', facts.audit.verified ? 0 : 1, '', 0),
    bounded('time until everything was right after the last trouble', facts.settledSeconds, 's', 120),
    bounded('resident memory, slope', residentSlope, 'MB/min', 1, long),
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
    bounded('longest silence of a watch', Math.max(0, ...facts.samples.map(({ watchSilence }) => watchSilence)), 's', 90),
    { what: 'Application until Deployment, median', value: median(delays), unit: 's' },
    { what: 'Application until Deployment, worst', value: delays.at(-1) ?? Number.NaN, unit: 's' },
    ...Object.entries(facts.counts).map(([what, value]) => ({ what, value, unit: '' })),
  ]
}
