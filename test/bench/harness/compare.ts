// Runs the rounds of a comparison within a time budget: peer, ours, peer, again and again. It decides nothing about the result.
import type { Comparison, Run } from './bench.ts'
import type { Round } from './summarize.ts'

export type CompareOptions = {
  readonly pairs: number
  readonly note: (message: string) => void
  /** Milliseconds left for everything that this bench still does. */
  readonly left: () => number
  /** Aborts when the budget is over. */
  readonly signal: AbortSignal
}

function described(run: Run): string {
  return `${(run.operations / run.wallSeconds).toFixed(1)}/s in ${run.wallSeconds.toFixed(2)} s`
}

/** As many rounds as asked for, or as fit: a round is begun only where the longest so far would still fit. At least one. */
export async function runRounds(comparison: Comparison, options: CompareOptions): Promise<readonly Round[]> {
  const { note, signal } = options
  const rounds: Round[] = []
  let longest = 0
  while (rounds.length < options.pairs && (rounds.length === 0 || longest * 1.1 < options.left())) {
    const started = performance.now()
    const before = await within(comparison.peer(signal), signal)
    const ours = await within(comparison.ours(signal), signal)
    const after = await within(comparison.peer(signal), signal)
    rounds.push({ before, ours, after })
    longest = Math.max(longest, performance.now() - started)
    note(
      `${comparison.name} ${rounds.length}/${options.pairs}: peer ${described(before)}, ours ${described(ours)}, peer ${described(after)}`,
    )
  }
  return rounds
}

/** A side that ignores the signal must not hold up the bench. */
export function within<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const over = Promise.withResolvers<never>()
  const abort = (): void => over.reject(signal.reason)
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort, { once: true })
  return Promise.race([work, over.promise]).finally(() => signal.removeEventListener('abort', abort))
}
