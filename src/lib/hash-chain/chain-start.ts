// Where a chain begins whose oldest entries were pruned: the head before its first entry, and what earlier attestations still
// say of the rest. Pure. That a cut was allowed is proven elsewhere, by a signature; here it is only compared.
import type { AttestedHead, ChainHead } from './attested-heads.ts'
import { type ChainLink, emptyHead } from './hash-chain.ts'

/** The head before the first entry; that of an empty log without one. */
export function startBefore(first: Pick<ChainLink, 'sequence' | 'previousHash'> | undefined): ChainHead {
  return first === undefined || first.sequence <= 1 ? emptyHead : { sequence: first.sequence - 1, hash: first.previousHash }
}

/** What attested heads say of a chain that begins after `start`. */
export type HeadsAfter<H> = {
  /** Those that can be compared with entries of the chain. */
  readonly later: readonly H[]
  /** How many are about entries that were cut off, and prove nothing any more. */
  readonly before: number
  /** The head that names the entry at the cut, and another hash: the chain begins somewhere else than it did. */
  readonly contradicting: H | undefined
}

/** Divides the heads by `start`. */
export function headsAfter<H extends AttestedHead>(heads: readonly H[], start: ChainHead): HeadsAfter<H> {
  return {
    later: heads.filter(({ sequence }) => sequence > start.sequence),
    before: heads.filter(({ sequence }) => sequence < start.sequence).length,
    contradicting: heads.find(({ sequence, hash }) => sequence === start.sequence && hash !== start.hash),
  }
}

export function isSameHead(one: ChainHead, other: ChainHead): boolean {
  return one.sequence === other.sequence && one.hash === other.hash
}
