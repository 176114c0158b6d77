// What the desk does by itself every minute: intents whose process died get an outcome, revocations are tried again, ended rows go.
// A token that was minted and never recorded cannot be named by anybody any more; the log says when it ends at the latest.
import type { Clock } from '../lib/clock.ts'
import { messageOf } from '../lib/errors.ts'
import type { TokenRegistry } from '../store/token-registry.ts'
import { tokenRecord } from './desk-audit.ts'
import { type RevokeDeps, revokeLeftOvers } from './revoke.ts'

export type SweepDeps = RevokeDeps & {
  readonly tokens: RevokeDeps['tokens'] & Pick<TokenRegistry, 'orphans' | 'abandon' | 'deleteExpired'>
  readonly clock: Clock
  /** False on a replica that does not lead. */
  readonly isLeader: () => boolean
}

/** Longer than any mint may take, so that a mint under way is no orphan. */
const orphanAfterMilliseconds = 5 * 60_000
const tokenLifeMilliseconds = 3_600_000
const everyMilliseconds = 60_000
const actor = 'sekisho:token-desk'

export async function sweepOnce(deps: SweepDeps): Promise<void> {
  const now = deps.clock.now()
  for (const orphan of await deps.tokens.orphans(new Date(now.getTime() - orphanAfterMilliseconds))) {
    const end = new Date(orphan.intendedAt.getTime() + orphanAfterMilliseconds + tokenLifeMilliseconds).toISOString()
    const reason = `the process ended before the outcome was known; a token, if one was made, reached nobody and ends by ${end}`
    await deps.audit.append(tokenRecord('token.refused', actor, orphan, orphan.id, 'failed', reason))
    await deps.tokens.abandon(orphan.id, reason)
  }
  await revokeLeftOvers(deps)
  await deps.tokens.deleteExpired(now)
}

/** Sweeps until the signal aborts; a failed sweep is logged and the next one tries again. */
export async function sweepUntil(deps: SweepDeps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    if (deps.isLeader())
      await sweepOnce(deps).catch((error: unknown) =>
        deps.log.error({ problem: messageOf(error) }, 'the sweep of the token desk failed'),
      )
    await deps.clock.sleep(everyMilliseconds, signal).catch(() => {})
  }
}
