// A hash chain over records: each entry's hash covers its whole content and the hash before it, so that no entry can be edited, removed
// or moved without every later hash failing to fit. What a chain alone cannot show (a cut tail, a chain computed anew) a checkpoint shows.
// Pure: used by the store when it appends, and by the CLI on what it downloaded. It trusts no stored hash.
// Source of the idea: RFC 6962 §2 (append-only logs), reduced to a list because every reader reads the whole log.
import { createHash } from 'node:crypto'
import { canonicalJson, type JsonValue } from './json/canonical-json.ts'

/** Where a log stands: the sequence of its last entry and that entry's hash. */
export type ChainHead = { readonly sequence: number; readonly hash: string }

/** What every entry has beside its content. */
export type ChainLink = { readonly sequence: number; readonly previousHash: string; readonly hash: string }

export type ChainVerdict =
  | { readonly ok: true; readonly entries: number; readonly head: ChainHead }
  | { readonly ok: false; readonly sequence: number; readonly problem: string }

/** The head of a log without entries. */
export const emptyHead: ChainHead = { sequence: 0, hash: '0'.repeat(64) }

/** SHA-256 (hex) of the canonical JSON of the entry without its own `hash`; the previous hash and the sequence are part of it. */
export function entryHash(entry: Readonly<Record<string, unknown>>): string {
  const { hash: _own, ...content } = entry
  return createHash('sha256')
    .update(canonicalJson(content as { readonly [key: string]: JsonValue }))
    .digest('hex')
}

export type ChainVerifier = {
  /** Takes the entries in the order of their sequence, in batches of any size. Entries after the first problem are ignored. */
  readonly add: (entries: Iterable<ChainLink & Readonly<Record<string, unknown>>>) => void
  /** The verdict over everything taken so far. */
  readonly verdict: () => ChainVerdict
}

/** A verifier that starts at the log's beginning. `checkpoints` are heads known from before: each must lie on the chain. */
export function createChainVerifier(...checkpoints: readonly (ChainHead | undefined)[]): ChainVerifier {
  const known = Map.groupBy(
    checkpoints.filter(checkpoint => checkpoint !== undefined),
    ({ sequence }) => sequence,
  )
  const farthest = Math.max(0, ...known.keys())
  let head = emptyHead
  let broken: ChainVerdict | undefined
  const problemOf = (entry: ChainLink & Readonly<Record<string, unknown>>): string | undefined => {
    if (entry.sequence !== head.sequence + 1) return `entry ${head.sequence + 1} is missing or out of order`
    if (entry.previousHash !== head.hash) return 'does not follow the entry before it'
    if (hashOrNothing(entry) !== entry.hash) return 'its content is not what was written'
    if (known.get(entry.sequence)?.some(({ hash }) => hash !== entry.hash)) return 'differs from the checkpoint'
    return undefined
  }
  return {
    add(entries) {
      for (const entry of entries) {
        if (broken !== undefined) return
        const problem = problemOf(entry)
        if (problem !== undefined) broken = { ok: false, sequence: entry.sequence, problem }
        else head = { sequence: entry.sequence, hash: entry.hash }
      }
    },
    verdict() {
      if (broken !== undefined) return broken
      if (farthest > head.sequence)
        return {
          ok: false,
          sequence: head.sequence + 1,
          problem: `entries up to ${farthest} were there before: the end is cut off`,
        }
      return { ok: true, entries: head.sequence, head }
    },
  }
}

/** Content that has no canonical form (a fraction, a missing value) was never written by us. */
function hashOrNothing(entry: Readonly<Record<string, unknown>>): string | undefined {
  try {
    return entryHash(entry)
  } catch {
    return undefined
  }
}
