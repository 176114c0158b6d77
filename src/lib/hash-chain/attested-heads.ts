// Which earlier heads of a hash chain (signed, or remembered) the chain contains, which it contradicts, and which are missing.
// Pure. A crash that loses the newest writes, and whoever cuts the end off, leave entries dated after the attestation of what
// is gone. Whoever rewrites entries and keeps their dates leaves others at the time of the attestation. Dates tell these two
// cases apart; nothing tells a loss from a removal.

/** The end of a log: the sequence and the hash of its last entry. */
export type ChainHead = { readonly sequence: number; readonly hash: string }

/** A head that somebody attested. Without the time a log that went on after a loss counts as altered. */
export type AttestedHead = ChainHead & { readonly attestedAt?: Date }

/** Entries that attested heads prove, and that are missing. */
export type LostEntries = {
  /** The last entry before the loss. */
  readonly remaining: ChainHead
  /** When the first entry after the loss was written; undefined while there is none. */
  readonly resumedAt: string | undefined
  /** What is missing, in the order of their sequences. Never empty. */
  readonly attested: readonly AttestedHead[]
}

/** Who examined the loss after `remaining`, when the log had gone on at `resumedAt`. */
export type AcknowledgedLoss = { readonly remaining: ChainHead; readonly resumedAt: string }

/**
 * Whether the acknowledgement is about this loss: the log ends at the same entry and goes on at the same time. Whoever removes
 * entries from after the acknowledged loss makes another one of it.
 */
export function acknowledges({ remaining, resumedAt }: AcknowledgedLoss, loss: LostEntries): boolean {
  return remaining.sequence === loss.remaining.sequence && remaining.hash === loss.remaining.hash && resumedAt === loss.resumedAt
}

/** What the chain says of the heads. */
export type AttestedHeads = {
  /** Call for each valid entry in order, with the head before it. Returns true when the entry contradicts an attested head. */
  readonly contradicts: (before: ChainHead, entry: ChainHead & { readonly at?: unknown }) => boolean
  /** The losses, by the entry after which they begin. `end` is the last entry of the log. */
  readonly losses: (end: ChainHead) => readonly LostEntries[]
  /** The greatest sequence of a head that the chain contains; 0 without any. */
  readonly confirmed: () => number
}

/** The time in a signature has no fraction of a second. */
const resolutionMilliseconds = 1000

type Watched = {
  readonly head: AttestedHead
  readonly limit: string
  resumed?: { readonly before: ChainHead; readonly at: string }
}

/** Follows the heads along a chain that is read from its beginning, or from an entry before all of them. */
export function createAttestedHeads(heads: readonly AttestedHead[]): AttestedHeads {
  const watched = heads.map((head): Watched => ({ head, limit: limitOf(head) })).sort((a, b) => (a.limit < b.limit ? -1 : 1))
  const bySequence = Map.groupBy(watched, ({ head }) => head.sequence)
  const lost = new Set<Watched>()
  let [passed, confirmed] = [0, 0]

  /** The first entry that is later than an attestation ends what can have been attested. */
  const passTime = (before: ChainHead, at: string): void => {
    for (let next = watched[passed]; next !== undefined && at >= next.limit; next = watched[passed]) {
      next.resumed = { before, at }
      passed += 1
    }
  }
  const contradictedBy = (entry: ChainHead): boolean => {
    let contradicted = false
    for (const one of bySequence.get(entry.sequence) ?? []) {
      if (one.head.hash === entry.hash) confirmed = Math.max(confirmed, entry.sequence)
      else if (one.resumed === undefined) contradicted = true
      else lost.add(one)
    }
    return contradicted
  }
  return {
    contradicts(before, entry) {
      if (typeof entry.at === 'string') passTime(before, entry.at)
      return contradictedBy(entry)
    },
    losses(end) {
      const missing = watched.filter(one => lost.has(one) || one.head.sequence > end.sequence)
      const byStart = Map.groupBy(missing, ({ resumed }) => (resumed?.before ?? end).sequence)
      return [...byStart.values()]
        .map(group => ({
          remaining: group[0]?.resumed?.before ?? end,
          resumedAt: group[0]?.resumed?.at,
          attested: group.map(({ head }) => head).sort((a, b) => a.sequence - b.sequence),
        }))
        .sort((a, b) => a.remaining.sequence - b.remaining.sequence)
    },
    confirmed: () => confirmed,
  }
}

/** Entries are dated in RFC 3339, in UTC with milliseconds: their texts sort as their times. */
function limitOf({ attestedAt }: AttestedHead): string {
  return attestedAt === undefined ? '~' : new Date(attestedAt.getTime() + resolutionMilliseconds).toISOString()
}
