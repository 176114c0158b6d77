// The parts of a long list of scenarios. Pure.

/**
 * Every `of`-th of the list, beginning with the `index`-th (from 1); all for undefined. @throws for what is not
 * `<index>/<of>`
 */
export function shardOf<T>(list: readonly T[], shard: string | undefined): readonly T[] {
  if (shard === undefined) return list
  const [, index = 0, of = 0] = (/^(\d+)\/(\d+)$/.exec(shard) ?? []).map(Number)
  if (index < 1 || index > of) throw new Error(`SEKISHO_SWEEP_SHARD must be such as 1/2, not ${shard}`)
  return list.filter((_, at) => at % of === index - 1)
}
