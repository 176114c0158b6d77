// What a layer alone stops: the attempts of a run with all layers beside those of a run without one. Pure.
import type { AttemptResult } from '../attack.ts'
import type { Layer } from '../verdict.ts'

type Named = Pick<AttemptResult, 'attack' | 'attempt' | 'evidence'>

/** An attempt that was stopped, and by whom, and what became of it without the layer. */
export type Changed = Named & { readonly stoppedBefore: Layer }

export type Comparison = {
  /** Attempts that were stopped with all layers, and were made again. */
  readonly stoppedBefore: number
  readonly stillStopped: number
  /** Of those still stopped, the ones that another layer stopped than before, by that layer. */
  readonly caughtBy: Readonly<Record<string, number>>
  /** Stopped by the layer alone. */
  readonly passed: readonly Changed[]
  /** What would have stopped them cannot be seen. */
  readonly unclear: readonly Changed[]
  /** Attempts of one run that the other did not have, such as those on pods that were replaced meanwhile. */
  readonly unmatched: number
}

/** A name that comes twice is told apart by its turn. */
function byName(results: readonly AttemptResult[]): ReadonlyMap<string, AttemptResult> {
  const turns = new Map<string, number>()
  return new Map(
    results.map(result => {
      const name = `${result.attack} > ${result.attempt}`
      const turn = turns.get(name) ?? 0
      turns.set(name, turn + 1)
      return [`${name} ${turn}`, result] as const
    }),
  )
}

export function compareRuns(before: readonly AttemptResult[], after: readonly AttemptResult[]): Comparison {
  const [first, second] = [byName(before), byName(after)]
  const pairs = [...first].flatMap(([name, earlier]) => {
    const later = second.get(name)
    return earlier.outcome === 'stopped' && later !== undefined ? [{ earlier, later }] : []
  })
  const changed = (outcome: AttemptResult['outcome']): readonly Changed[] =>
    pairs
      .filter(({ later }) => later.outcome === outcome)
      .map(({ earlier, later: { attack, attempt, evidence } }) => ({ attack, attempt, evidence, stoppedBefore: earlier.by }))
  const caughtBy: Record<string, number> = {}
  for (const { earlier, later } of pairs)
    if (later.outcome === 'stopped' && later.by !== earlier.by) caughtBy[later.by] = (caughtBy[later.by] ?? 0) + 1
  const missing = (one: ReadonlyMap<string, unknown>, other: ReadonlyMap<string, unknown>): number =>
    [...one.keys()].filter(name => !other.has(name)).length
  return {
    stoppedBefore: pairs.length,
    stillStopped: pairs.filter(({ later }) => later.outcome === 'stopped').length,
    caughtBy,
    passed: changed('succeeded'),
    unclear: changed('unclear'),
    unmatched: missing(first, second) + missing(second, first),
  }
}
