// Runs the rounds of a comparison within a time budget: peer, ours, peer, ours, peer… The last peer of a round is the first of
// the next. It does not evaluate the result.
import type { Comparison, Run } from './bench.ts'
import type { Round } from './summarize.ts'

export type CompareOptions = {
  readonly pairs: number
  readonly note: (message: string) => void
  /** Milliseconds left for the rest of this bench. */
  readonly left: () => number
  /** Aborts at the end of the budget. */
  readonly signal: AbortSignal
}

function described(run: Run): string {
  return `${(run.operations / run.wallSeconds).toFixed(1)}/s in ${run.wallSeconds.toFixed(2)} s`
}

/**
 * Runs the requested number of rounds, or as many as fit: a round starts only if the longest one so far would still fit. At
 * least one.
 */
export async function runRounds(comparison: Comparison, options: CompareOptions): Promise<readonly Round[]> {
  const { note, signal } = options
  const rounds: Round[] = []
  let longest = 0
  let before: Run | undefined
  while (rounds.length < options.pairs && (rounds.length === 0 || longest * 1.1 < options.left())) {
    const started = performance.now()
    before ??= await within(comparison.peer, signal)
    const ours = await within(comparison.ours, signal)
    const after = await within(comparison.peer, signal)
    rounds.push({ before, ours, after })
    longest = Math.max(longest, performance.now() - started)
    note(
      `${comparison.name} ${rounds.length}/${options.pairs}: peer ${described(before)}, ours ${described(ours)}, peer ${described(after)}`,
    )
    before = after
  }
  return rounds
}

/** Starts nothing when the signal has aborted; work that ignores the signal does not block the bench. */
export function within<T>(work: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  const over = Promise.withResolvers<never>()
  const abort = (): void => over.reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  return Promise.race([work(signal), over.promise]).finally(() => signal.removeEventListener('abort', abort))
}
