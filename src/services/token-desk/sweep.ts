// What the token desk does every fifteen seconds: it records an outcome for intents whose process ended, ends tokens whose life
// is over, retries revocations, deletes the ciphertext of tokens that expired, and deletes ended rows. A token that was minted
// and never recorded is unknown to everybody; its audit record says when it expires at the latest.
import type { Clock } from '../../lib/clock.ts'
import { type Periodic, periodic } from '../../lib/periodic.ts'
import type { TokenRegistry } from '../../store/token-registry.ts'
import { endFacts, tokenRecord } from './audit/desk-audit.ts'
import { lifeIsOver } from './minting/token-life.ts'
import { type RevokeDeps, retryRevocations } from './revoke.ts'

export type SweepDeps = RevokeDeps & {
  readonly tokens: RevokeDeps['tokens'] &
    Pick<TokenRegistry, 'orphans' | 'abandon' | 'markOutlived' | 'expiredUnrevoked' | 'expire' | 'deleteExpired'>
  readonly clock: Clock
}

/** Longer than any mint may take, so that a mint in progress is not an orphan. */
const orphanAfterMilliseconds = 5 * 60_000
const tokenLifeMilliseconds = 3_600_000
/** A token lives for a minute at least, where a policy says so. */
const everyMilliseconds = 15_000

/** The sweep as a loop; rounds are left out while `isLeader` is false. */
export function createTokenSweep(deps: SweepDeps & { readonly isLeader: () => boolean }): Periodic {
  const { clock, log, isLeader } = deps
  return periodic({
    name: 'token desk sweep',
    everyMilliseconds,
    work: () => sweepOnce(deps, isLeader),
    clock,
    log,
    enabled: isLeader,
  })
}

/**
 * One sweep. Idempotent; rejects when the registry or the audit log fails, and the next sweep continues. It ends as soon as
 * `mayGoOn` is false: two processes would record each outcome twice.
 */
export async function sweepOnce(deps: SweepDeps, mayGoOn: () => boolean = () => true): Promise<void> {
  const now = deps.clock.now()
  for (const orphan of await deps.tokens.orphans(new Date(now.getTime() - orphanAfterMilliseconds))) {
    if (!mayGoOn()) return
    const end = new Date(orphan.intendedAt.getTime() + orphanAfterMilliseconds + tokenLifeMilliseconds).toISOString()
    const reason = `the process ended before the outcome was known; a token, if GitHub made one, reached nobody and expires by ${end}`
    await deps.audit.append(tokenRecord(orphan, { action: 'token.refused', outcome: 'failed', reason }))
    await deps.tokens.abandon(orphan.id, reason)
  }
  if (!mayGoOn()) return
  await deps.tokens.markOutlived(now, lifeIsOver)
  await retryRevocations(deps)
  const reason = 'it expired before GitHub revoked it'
  for (const expired of await deps.tokens.expiredUnrevoked()) {
    if (!mayGoOn()) return
    const details = endFacts(expired, 'none')
    await deps.audit.append(tokenRecord(expired, { action: 'token.revoked', outcome: 'failed', reason, details }))
  }
  await deps.tokens.expire(now)
  await deps.tokens.deleteExpired(now)
}
