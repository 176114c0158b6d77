// Verifies entries of the audit log as they come, from wherever they come: one batch is in memory, however many there are.
import { AppError } from '../../../../lib/errors.ts'
import type { AttestedHead } from '../../../../lib/hash-chain/attested-heads.ts'
import { headsAfter } from '../../../../lib/hash-chain/chain-start.ts'
import { type ChainHead, createChainVerifier } from '../../../../lib/hash-chain/hash-chain.ts'
import type { Entry } from '../entry.ts'
import { type KnownLoss, knownLosses, type Signer, statementIn, validAcknowledgements } from './losses.ts'

export type Verification = {
  readonly entries: AsyncIterable<readonly Entry[]>
  /** Where to begin: what is before is not looked at. */
  readonly start: ChainHead
  readonly heads: readonly AttestedHead[]
  /** Acknowledgements of losses that are known without reading the log. */
  readonly acknowledgements: readonly string[]
  readonly signer: Signer
  readonly say: (text: string) => void
}

/** What verifies: the last entry, how many were read, and losses that somebody acknowledged. */
export type VerifiedEntries = {
  readonly head: ChainHead
  readonly read: number
  readonly losses: readonly KnownLoss[]
  /** Heads from before `start`, which nothing can be said about. */
  readonly before: number
}

const maxAcknowledgements = 10_000
const sayEvery = 100_000

/**
 * Rejects with `integrity_violation` for the first entry that is not what it was, and with `log_truncated` when all verify but
 * attested ones are missing.
 */
export async function verifyEntries({ entries, start, heads, signer, say, ...given }: Verification): Promise<VerifiedEntries> {
  const { later, before, contradicting } = headsAfter(heads, start)
  if (contradicting !== undefined)
    throw new AppError('integrity_violation', `entry ${start.sequence}: the log begins there, and differs from the checkpoint`)
  const verifier = createChainVerifier(later, start)
  const acknowledgements = [...given.acknowledgements]
  let read = 0
  for await (const batch of entries) {
    verifier.add(batch)
    for (const entry of batch) {
      const statement = statementIn(entry, 'audit.loss-acknowledged')
      if (statement !== undefined && acknowledgements.length < maxAcknowledgements) acknowledgements.push(statement)
    }
    const before = read
    read += batch.length
    if (Math.floor(read / sayEvery) === Math.floor(before / sayEvery)) continue
    requireUnaltered(verifier.result())
    say(`${read} entries read`)
  }
  const result = verifier.result()
  requireUnaltered(result)
  if (result.ok) return { head: result.head, read, losses: [], before }
  const known = await validAcknowledgements(acknowledgements, signer)
  return { head: result.head, read, losses: knownLosses(result.losses, known, result.problem), before }
}

type Result = ReturnType<ReturnType<typeof createChainVerifier>['result']>
type Unaltered = Exclude<Result, { readonly kind: 'altered' }>

/** The first alteration ends the reading: what follows it proves nothing. */
function requireUnaltered(result: Result): asserts result is Unaltered {
  if (!result.ok && result.kind === 'altered')
    throw new AppError('integrity_violation', `entry ${result.sequence}: ${result.problem}`)
}
