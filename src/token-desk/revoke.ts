// Revokes tokens: first they can no longer be delivered, then GitHub is asked to revoke them. A token that GitHub does not revoke stays in
// the registry and is retried until it expires. Every revocation is audited.
import type { Clock } from '../lib/clock.ts'
import { AppError, messageOf } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { LiveToken, LiveTokenFilter, TokenRegistry } from '../store/token-registry.ts'
import type { GitHubApps } from './app-clients.ts'
import { type AuditAppend, tokenRecord } from './desk-audit.ts'
import { platformSubjectKind } from './single-use-token.ts'

export type RevokeDeps = {
  readonly tokens: Pick<TokenRegistry, 'liveBy' | 'markRevoking' | 'markRevoked' | 'revoking'>
  readonly githubApps: GitHubApps
  /** The name of the ClusterGitHubApp with that host and id. */
  readonly appNameOf: (host: string, appId: number) => string | undefined
  readonly audit: AuditAppend
  readonly clock: Clock
  readonly log: Log
}

/** GitHub may refuse a younger token only because not all of its servers know it yet. */
const freshMilliseconds = 10_000
/** Longer than a platform request takes: its single-use token is stored as revoking from the start and must not end before it is used. */
const singleUseMilliseconds = 2 * 60_000
/** Requests to GitHub at the same time. */
const concurrency = 8

/** See `TokenDesk.revokeBy`. */
export async function revokeBy(deps: RevokeDeps, filter: LiveTokenFilter, reason: string): Promise<number> {
  const found = await deps.tokens.liveBy(filter)
  for (const { id } of found) await deps.tokens.markRevoking(id, reason)
  const failed = await revokeAll(deps, found, reason)
  if (failed > 0)
    throw new AppError('unavailable', `${failed} of ${found.length} tokens could not be revoked at GitHub yet`, {
      retryAfterSeconds: 5,
    })
  return found.length
}

/** Retries every token whose revocation has not ended; those that fail again are left to the next retry. */
export async function retryRevocations(deps: RevokeDeps): Promise<void> {
  const usedBefore = deps.clock.now().getTime() - singleUseMilliseconds
  const revoking = await deps.tokens.revoking()
  const due = revoking.filter(({ subject, mintedAt }) => subject.kind !== platformSubjectKind || mintedAt.getTime() < usedBefore)
  await revokeAll(deps, due, 'retried')
}

/** Resolves to how many could not be revoked. */
async function revokeAll(deps: RevokeDeps, tokens: readonly LiveToken[], reason: string): Promise<number> {
  let failed = 0
  for (let start = 0; start < tokens.length; start += concurrency) {
    const results = await Promise.all(tokens.slice(start, start + concurrency).map(token => revokeOne(deps, token, reason)))
    failed += results.filter(revoked => !revoked).length
  }
  return failed
}

async function revokeOne(deps: RevokeDeps, token: LiveToken, reason: string): Promise<boolean> {
  const { host, appId } = token.installation
  try {
    const name = deps.appNameOf(host, appId)
    if (name === undefined) throw new AppError('not_found', `there is no ClusterGitHubApp for App ${appId} on ${host}`)
    const { client } = await deps.githubApps.get(name)
    const fresh = deps.clock.now().getTime() - token.mintedAt.getTime() < freshMilliseconds
    await client.revoke(token.token, { fresh })
  } catch (error) {
    deps.log.error({ token: token.id, error: messageOf(error) }, 'failed to revoke a token')
    return false
  }
  await deps.audit.append(tokenRecord(token, { action: 'token.revoked', outcome: 'allowed', reason }))
  await deps.tokens.markRevoked(token.id, reason)
  return true
}
