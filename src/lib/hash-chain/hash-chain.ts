// A hash chain over records: the hash of each entry covers its whole content and the previous hash, so that an edited, removed
// or moved entry breaks every later hash. A chain alone does not reveal a truncated end or a chain that was computed again;
// checkpoints reveal both. Pure: the store uses it to append, the CLI to verify what it downloaded. It never trusts a stored
// hash. Source of the idea: RFC 6962 §2 (append-only logs), reduced to a list because every reader reads the whole log.
import { createHash } from 'node:crypto'
import { canonicalJson, type JsonValue } from '../json/canonical-json.ts'
import { type AttestedHead, type ChainHead, createAttestedHeads, type LostEntries } from './attested-heads.ts'

export type { ChainHead } from './attested-heads.ts'

/** The fields that every entry has in addition to its content. */
export type ChainLink = { readonly sequence: number; readonly previousHash: string; readonly hash: string }

/**
 * `altered`: the entry of that sequence is not what it was. `truncated`: every entry that is there verifies, but attested ones
 * are missing; `sequence` is the first missing one.
 */
export type ChainResult =
  | { readonly ok: true; readonly entries: number; readonly head: ChainHead }
  | { readonly ok: false; readonly kind: 'altered'; readonly sequence: number; readonly problem: string }
  | {
      readonly ok: false
      readonly kind: 'truncated'
      readonly sequence: number
      readonly problem: string
      readonly losses: readonly LostEntries[]
      readonly head: ChainHead
    }

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

/** A verifier of the entries after `start`. The attested heads must be later than `start`, and on the chain. */
export function createChainVerifier(attested: readonly AttestedHead[] = [], start: ChainHead = emptyHead): ChainVerifier {
  const heads = createAttestedHeads(attested)
  let head = start
  let broken: ChainResult | undefined
  const problemOf = (entry: ChainLink & Readonly<Record<string, unknown>>): string | undefined => {
    if (entry.sequence !== head.sequence + 1) return `entry ${head.sequence + 1} is missing or out of order`
    if (entry.previousHash !== head.hash) return 'does not follow the entry before it'
    if (hashOrNothing(entry) !== entry.hash) return 'its content was changed'
    if (heads.contradicts(head, entry)) return 'differs from the checkpoint'
    return undefined
  }
  return {
    add(entries) {
      for (const entry of entries) {
        if (broken !== undefined) return
        const problem = problemOf(entry)
        if (problem !== undefined) broken = { ok: false, kind: 'altered', sequence: entry.sequence, problem }
        else head = { sequence: entry.sequence, hash: entry.hash }
      }
    },
    result() {
      if (broken !== undefined) return broken
      const losses = heads.losses(head)
      const [first] = losses
      if (first === undefined) return { ok: true, entries: head.sequence, head }
      const problem = losses.map(loss => lossText(loss, heads.confirmed())).join('; ')
      return { ok: false, kind: 'truncated', sequence: first.remaining.sequence + 1, problem, losses, head }
    },
  }
}

/** For people: which entries are missing, what proves it, and what is known of the others. `confirmed`: attested and present. */
export function lossText({ remaining, resumedAt, attested }: LostEntries, confirmed: number): string {
  const last = attested.at(-1)
  const [from, to] = [remaining.sequence + 1, last?.sequence ?? remaining.sequence + 1]
  const missing = from === to ? `entry ${from} is missing` : `entries ${from} to ${to} are missing`
  const proof = last?.attestedAt === undefined ? 'an earlier head' : `the checkpoint of ${last.attestedAt.toISOString()}`
  const before = Math.min(confirmed, remaining.sequence)
  const rest = before === 0 ? 'no attested entry is left' : `the entries up to ${before} are as they were attested`
  const since = resumedAt === undefined ? '' : `, the log went on at ${resumedAt}`
  return `${missing}: lost in a crash or removed; ${proof} attests that they existed; ${rest}${since}`
}

/** Undefined for content without a canonical form (a fraction, a missing value), which Sekisho never writes. */
function hashOrNothing(entry: Readonly<Record<string, unknown>>): string | undefined {
  try {
    return entryHash(entry)
  } catch {
    return undefined
  }
}
