// Decides which checkpoints are kept outside the database: all of the newest, and fewer of the others the older they are, so
// that a bounded number reaches back to the first. Pure.

const maxRecent = 24

/** The sequences to keep: the newest 24, and of the rest one in each doubling of the distance to the newest (at most 53 more). */
export function keptSequences(sequences: readonly number[]): ReadonlySet<number> {
  const newestFirst = [...new Set(sequences)].sort((a, b) => b - a)
  const newest = newestFirst[0] ?? 0
  const kept = new Set(newestFirst.slice(0, maxRecent))
  const doublings = new Map<number, number>()
  // The oldest of each doubling wins: it stays the oldest while the distance grows, so that no old checkpoint is dropped step
  // by step.
  for (const sequence of newestFirst.slice(maxRecent)) doublings.set(Math.floor(Math.log2(newest - sequence)), sequence)
  for (const sequence of doublings.values()) kept.add(sequence)
  return kept
}
