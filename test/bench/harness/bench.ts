// What a bench is: comparisons of ours with a peer, and single measurements, each with the goals it is held to.
// A bench says what to run; how often, in which order and what counts as a result belongs to the harness alone.

/** One run of one side. Everything is measured, nothing is derived from a goal. */
export type Run = {
  /** How many of the comparison's `unit` were done. */
  readonly operations: number
  readonly wallSeconds: number
  /** User and system time of the measured process (with its threads), in seconds. */
  readonly cpuSeconds?: number
  readonly latency?: { readonly p50Milliseconds: number; readonly p99Milliseconds: number }
  /** Live heap after a collection. */
  readonly heapBytes?: number
  readonly rssBytes?: number
  /** Whatever else tells something, by a name with its unit, such as `API server CPU s`. Both sides should give the same names. */
  readonly figures?: Readonly<Record<string, number>>
}

export type Spread = { readonly median: number; readonly min: number; readonly max: number }

/** One line of a comparison: medians of both sides, and ours ÷ peer of each round. */
export type FigureSummary = { readonly ours: number; readonly peer: number; readonly ratio: Spread }

export type Summary = {
  /** By the names of `figureNames`, and the runs' own. */
  readonly figures: Readonly<Record<string, FigureSummary>>
  /** The peer against itself in each round, by rate. */
  readonly control: Spread
}

export type Verdict = { readonly met: boolean; readonly value: string }

export type Goal<T> = { readonly text: string; readonly judge: (result: T) => Verdict }

/** Both sides do the same work. Each call does it once, from a clean start, and may take at most what the bench's budget leaves. */
export type Comparison = {
  readonly name: string
  readonly title: string
  /** What is counted, in plural, such as `Applications`. */
  readonly unit: string
  /** Who the peer is, in a few words. */
  readonly peerName: string
  readonly ours: (signal: AbortSignal) => Promise<Run>
  readonly peer: (signal: AbortSignal) => Promise<Run>
  readonly goals: readonly Goal<Summary>[]
}

export type Figure = { readonly label: string; readonly value: number; readonly unit: string }

/** Something of ours that has no peer: measured once. */
export type Measurement = {
  readonly name: string
  readonly title: string
  readonly run: (signal: AbortSignal) => Promise<readonly Figure[]>
  readonly goals: readonly Goal<readonly Figure[]>[]
}

export type BenchContext = {
  /** Signs of life, on standard error. */
  readonly note: (message: string) => void
  /** From 0.01 to 1: sizes are multiplied with it to try a bench out. Anything but 1 is marked as no result. */
  readonly scale: number
  /** Long forms of what is short by default. */
  readonly long: boolean
  /** An empty folder of this run; removed afterwards. */
  readonly folder: string
}

export type OpenBench = {
  readonly comparisons: readonly Comparison[]
  readonly measurements?: readonly Measurement[]
  readonly close: () => Promise<void>
}

export type Bench = {
  readonly name: string
  /** One sentence: what is measured, with sizes. */
  readonly title: string
  /** The whole bench ends within this: fewer rounds when they take long, an error when a run hangs. */
  readonly budgetSeconds: number
  /** The same for `--long`, where that has a meaning. */
  readonly longBudgetSeconds?: number
  /** Why it cannot run on this machine now, with the cure; undefined when it can. */
  readonly obstacle?: () => Promise<string | undefined>
  /** Builds, boots and fills what the runs need. What it started ends with `close`, and when it rejects. */
  readonly open: (context: BenchContext) => Promise<OpenBench>
}
