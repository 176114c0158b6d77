// How far the log of a container was read, so that reading goes on there after a restart, on another leader or over a new
// connection: no line is lost and none comes twice. The kubelet can only leave out what was written before a whole second; of
// that second on, lines are counted. It lies some seconds back, because the two streams of a container may be written out of
// order. Pure.
import type { LineTime } from './lines.ts'

export type ReadPosition = {
  /** The newest time of a line that was read. */
  readonly newest: string
  /** Second → how many lines of it were read, of the newest seconds. */
  readonly lines: Readonly<Record<string, number>>
}

/** A line is written so much later than one with a newer time, at most. */
const disorderMilliseconds = 2000

/** The second to read on from, for `sinceTime`. */
export function sinceOf({ newest }: ReadPosition): string {
  const second = Date.parse(`${newest.slice(0, 19)}Z`)
  return `${new Date(second - disorderMilliseconds).toISOString().slice(0, 19)}Z`
}

/** The position after one more line. */
export function advanced(position: ReadPosition | undefined, { second, exact }: LineTime): ReadPosition {
  if (position === undefined) return { newest: exact, lines: { [second]: 1 } }
  const { newest, lines } = position
  const next = { newest: exact > newest ? exact : newest, lines: { ...lines, [second]: (lines[second] ?? 0) + 1 } }
  return second.slice(0, 19) > newest.slice(0, 19) ? withoutOld(next) : next
}

function withoutOld({ newest, lines }: ReadPosition): ReadPosition {
  const since = sinceOf({ newest, lines })
  return { newest, lines: Object.fromEntries(Object.entries(lines).filter(([second]) => second >= since)) }
}

export type Resumption = {
  /** Whether the line was read before. Call it for each line with a time, in order. */
  readonly isKnown: (time: LineTime) => boolean
  /** Whether the first line was not one that was read before: the node has dropped a part of the log. */
  readonly hasGap: () => boolean
}

/** For a log that is read from `sinceOf(position)` on. */
export function resumption(position: ReadPosition | undefined): Resumption {
  const since = position === undefined ? '' : sinceOf(position)
  let left = Object.entries(position?.lines ?? {}).reduce((sum, [second, count]) => (second >= since ? sum + count : sum), 0)
  let first = true
  let gap = false
  return {
    isKnown({ exact }) {
      const known = position !== undefined && left > 0 && exact <= position.newest
      if (first && position !== undefined && !known) gap = true
      first = false
      left = known ? left - 1 : 0
      return known
    },
    hasGap: () => gap,
  }
}
