// A hash chain over records: the hash of each entry covers its whole content and the previous hash, so that an edited, removed or moved
// entry breaks every later hash. A chain alone does not reveal a truncated end or a chain that was computed again; checkpoints reveal both.
// Pure: the store uses it to append, the CLI to verify what it downloaded. It never trusts a stored hash.
// Source of the idea: RFC 6962 §2 (append-only logs), reduced to a list because every reader reads the whole log.
import { createHash } from 'node:crypto'
import { canonicalJson, type JsonValue } from './json/canonical-json.ts'

/** The end of a log: the sequence and the hash of its last entry. */
export type ChainHead = { readonly sequence: number; readonly hash: string }

/** The fields that every entry has in addition to its content. */
export type ChainLink = { readonly sequence: number; readonly previousHash: string; readonly hash: string }

export type ChainResult =
  | { readonly ok: true; readonly entries: number; readonly head: ChainHead }
  | { readonly ok: false; readonly sequence: number; readonly problem: string }

/** The head of a log without entries. */
export const emptyHead: ChainHead = { sequence: 0, hash: '0'.repeat(64) }

/** SHA-256 (hex) of the canonical JSON of the entry without its own `hash`; it includes the previous hash and the sequence. */
export function entryHash(entry: Readonly<Record<string, unknown>>): string {
  const { hash: _own, ...content } = entry
  return createHash('sha256')
    .update(canonicalJson(content as { readonly [key: string]: JsonValue }))
    .digest('hex')
}

export type ChainVerifier = {
  /** Takes the entries in the order of their sequence, in batches of any size. Ignores entries after the first problem. */
  readonly add: (entries: Iterable<ChainLink & Readonly<Record<string, unknown>>>) => void
  /** The result for everything taken so far. */
  readonly result: () => ChainResult
}

/** A verifier that starts with the first entry. `checkpoints` are heads known from before; each must be on the chain. */
export function createChainVerifier(...checkpoints: readonly (ChainHead | undefined)[]): ChainVerifier {
  const known = Map.groupBy(
    checkpoints.filter(checkpoint => checkpoint !== undefined),
    ({ sequence }) => sequence,
  )
  const farthest = Math.max(0, ...known.keys())
  let head = emptyHead
  let broken: ChainResult | undefined
  const problemOf = (entry: ChainLink & Readonly<Record<string, unknown>>): string | undefined => {
    if (entry.sequence !== head.sequence + 1) return `entry ${head.sequence + 1} is missing or out of order`
    if (entry.previousHash !== head.hash) return 'does not follow the entry before it'
    if (hashOrNothing(entry) !== entry.hash) return 'its content was changed'
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
    result() {
      if (broken !== undefined) return broken
      if (farthest > head.sequence)
        return {
          ok: false,
          sequence: head.sequence + 1,
          problem: `entries up to ${farthest} existed before: the end of the log is missing`,
        }
      return { ok: true, entries: head.sequence, head }
    },
  }
}

/** Undefined for content without a canonical form (a fraction, a missing value), which Sekisho never writes. */
function hashOrNothing(entry: Readonly<Record<string, unknown>>): string | undefined {
  try {
    return entryHash(entry)
  } catch {
    return undefined
  }
}
