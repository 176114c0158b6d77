// The definition of a bench: comparisons of our program with a peer, and single measurements, each with goals.
// A bench defines what to run; the harness decides how often, in which order and what counts as a result.

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
  /** Further figures, by a name with its unit, such as `API server CPU s`. Both sides should use the same names. */
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

export type GoalResult = { readonly met: boolean; readonly value: string }

export type Goal<T> = { readonly text: string; readonly evaluate: (result: T) => GoalResult }

/** Both sides do the same work. Each call does it once, from a clean state, within the time that the bench's budget leaves. */
export type Comparison = {
  readonly name: string
  readonly title: string
  /** What is counted, in plural, such as `Applications`. */
  readonly unit: string
  /** A short description of the peer. */
  readonly peerName: string
  readonly ours: (signal: AbortSignal) => Promise<Run>
  readonly peer: (signal: AbortSignal) => Promise<Run>
  readonly goals: readonly Goal<Summary>[]
}

export type Figure = { readonly label: string; readonly value: number; readonly unit: string }

/** Something that has no peer: measured once. */
export type Measurement = {
  readonly name: string
  readonly title: string
  readonly run: (signal: AbortSignal) => Promise<readonly Figure[]>
  readonly goals: readonly Goal<readonly Figure[]>[]
}

export type BenchContext = {
  /** Progress messages, on standard error. */
  readonly note: (message: string) => void
  /** From 0.01 to 1: sizes are multiplied by it to try a bench out. A run with a scale other than 1 is void. */
  readonly scale: number
  /** Use the long form of what is short by default. */
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
  /** The whole bench ends within this time: with fewer rounds when they are slow, with an error when a run hangs. */
  readonly budgetSeconds: number
  /** The budget with `--long`, if the bench has a long form. */
  readonly longBudgetSeconds?: number
  /** Why the bench cannot run on this machine now, and what to do; undefined when it can. */
  readonly obstacle?: () => Promise<string | undefined>
  /** Builds, starts and fills what the runs need. Whatever it started is stopped by `close`, and when it rejects. */
  readonly open: (context: BenchContext) => Promise<OpenBench>
}
