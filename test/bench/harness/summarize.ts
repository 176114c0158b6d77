// From rounds to a result: medians of each side, ours ÷ peer within each round, the control, and whether the result counts.
// Pure. A round is peer, ours, peer: the two runs of the peer surround ours, so that a machine that becomes slower or faster
// meanwhile favours neither side; compared with each other they are the control.
import type { FigureSummary, Run, Summary } from './bench.ts'
import { mean, median, spread } from './statistics.ts'

export type Round = { readonly before: Run; readonly ours: Run; readonly after: Run }

export const figureNames = {
  rate: 'rate per second',
  wall: 'wall s',
  cpu: 'CPU s per 1,000',
  p50: 'p50 ms',
  p99: 'p99 ms',
  heap: 'heap MB',
  rss: 'RSS MB',
} as const

/** Outside these bounds the machine was too noisy for meaningful ratios. */
export const controlBounds = { low: 0.9, high: 1.1 } as const

/** The median of fewer rounds is not reliable. */
export const fewestRounds = 5

const megabyte = 1_000_000

/** Every figure of a run by its name. Figures that were not measured are absent. */
export function figuresOf(run: Run): Readonly<Record<string, number>> {
  const { operations, wallSeconds, cpuSeconds, latency, heapBytes, rssBytes } = run
  return {
    [figureNames.rate]: operations / wallSeconds,
    [figureNames.wall]: wallSeconds,
    ...(cpuSeconds === undefined ? {} : { [figureNames.cpu]: (cpuSeconds / operations) * 1000 }),
    ...(latency === undefined ? {} : { [figureNames.p50]: latency.p50Milliseconds, [figureNames.p99]: latency.p99Milliseconds }),
    ...(heapBytes === undefined ? {} : { [figureNames.heap]: heapBytes / megabyte }),
    ...(rssBytes === undefined ? {} : { [figureNames.rss]: rssBytes / megabyte }),
    ...run.figures,
  }
}

/** Undefined for a figure that one of the sides did not report in every round: there is nothing to compare. */
function summarizeFigure(name: string, rounds: readonly Round[]): FigureSummary | undefined {
  const ours: number[] = []
  const peer: number[] = []
  for (const round of rounds) {
    const our = figuresOf(round.ours)[name]
    const before = figuresOf(round.before)[name]
    const after = figuresOf(round.after)[name]
    if (our === undefined || before === undefined || after === undefined) return undefined
    ours.push(our)
    peer.push(mean([before, after]))
  }
  return {
    ours: median(ours),
    peer: median(peer),
    ratio: spread(ours.map((value, index) => value / (peer[index] ?? Number.NaN))),
  }
}

export function summarize(rounds: readonly Round[]): Summary {
  const rateOf = (run: Run): number => run.operations / run.wallSeconds
  const figures: Record<string, FigureSummary> = {}
  for (const name of Object.keys(rounds[0] ? figuresOf(rounds[0].ours) : {})) {
    const figure = summarizeFigure(name, rounds)
    if (figure !== undefined) figures[name] = figure
  }
  return { figures, control: spread(rounds.map(({ before, after }) => rateOf(before) / rateOf(after))) }
}

/** Why this is not a result; undefined when it is one. */
export function voidReason(summary: Summary, rounds: number, scale: number): string | undefined {
  const { median: control } = summary.control
  if (!(control >= controlBounds.low && control <= controlBounds.high))
    return `the control (the peer against itself) is ${control.toFixed(2)}, outside ${controlBounds.low}–${controlBounds.high}: the machine was too noisy`
  if (rounds < fewestRounds) return `${rounds} rounds are fewer than ${fewestRounds}`
  return scaleReason(scale)
}

export function scaleReason(scale: number): string | undefined {
  return scale === 1 ? undefined : `the sizes were scaled to ${scale}`
}
