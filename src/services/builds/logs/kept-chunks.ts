// Which chunks of a log are dropped when it is larger than what is kept: the beginning of the log stays, and its newest part,
// and the end of each step, from which the cause of a failure is read. Pure.
import type { ChunkExtent } from '../../../store/builds/build-logs.ts'

export type LogLimits = {
  /** Bytes of one log that are kept, besides the ends of its steps. */
  readonly most: number
  /** Bytes of its beginning that are kept. */
  readonly beginning: number
}

/** The end of each step that is kept. */
const maxOfStepEnd = 65_536

function stepEnds(chunks: readonly ChunkExtent[]): ReadonlySet<number> {
  const left = new Map<string, number>()
  const kept = chunks.toReversed().filter(({ step, firstByte, endByte }) => {
    const open = left.get(step) ?? maxOfStepEnd
    left.set(step, open - (endByte - firstByte))
    return open > 0
  })
  return new Set(kept.map(({ sequence }) => sequence))
}

/** The sequences of the chunks to drop, of chunks in the order of the log. */
export function chunksToDrop(chunks: readonly ChunkExtent[], { most, beginning }: LogLimits): readonly number[] {
  let excess = chunks.reduce((sum, { firstByte, endByte }) => sum + endByte - firstByte, 0) - most
  if (excess <= 0) return []
  const ends = stepEnds(chunks)
  const dropped: number[] = []
  for (const { sequence, firstByte, endByte } of chunks) {
    if (excess <= 0) break
    if (firstByte < beginning || ends.has(sequence)) continue
    dropped.push(sequence)
    excess -= endByte - firstByte
  }
  return dropped
}
