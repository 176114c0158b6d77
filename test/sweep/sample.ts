// Which crash points of a costly scenario the short form plays: another few of them for each commit, the same ones for the same commit. Pure.
import { createHash } from 'node:crypto'

/** Of each scenario that has `shortPoints`. */
const perScenario = 2

const rankOf = (seed: string, text: string): string => createHash('sha256').update(`${seed}\n${text}`).digest('hex')

/** In their order. `seed`: the commit and the scenario. */
export function sampled<T>(points: readonly T[], textOf: (point: T) => string, seed: string): readonly T[] {
  const ranks = points.map(point => rankOf(seed, textOf(point)))
  const limit = ranks.toSorted()[perScenario]
  return limit === undefined ? points : points.filter((_, index) => (ranks[index] ?? '') < limit)
}

/** Every `of`-th of the list, beginning with the `index`-th (from 1); all for undefined. @throws for what is not `<index>/<of>` */
export function shardOf<T>(list: readonly T[], shard: string | undefined): readonly T[] {
  if (shard === undefined) return list
  const [, index = 0, of = 0] = (/^(\d+)\/(\d+)$/.exec(shard) ?? []).map(Number)
  if (index < 1 || index > of) throw new Error(`SEKISHO_SWEEP_SHARD must be such as 1/2, not ${shard}`)
  return list.filter((_, at) => at % of === index - 1)
}
