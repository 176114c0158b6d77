// Ends tokens: first nobody can get them any more, then GitHub is told. A token that GitHub does not take back stays in the registry and
// is tried again until it expires. Every end is audited.
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

/** A token so young may be refused because not all of GitHub knows it yet. */
const freshMilliseconds = 10_000
const atOnce = 8
const actor = 'sekisho:token-desk'

export async function revokeBy(deps: RevokeDeps, filter: LiveTokenFilter, reason: string): Promise<number> {
  const live = await deps.tokens.liveBy(filter)
  for (const token of live) await deps.tokens.markRevoking(token.id, reason)
  const failed = await revokeAll(deps, live, reason)
  if (failed > 0)
    throw new AppError('unavailable', `${failed} of ${live.length} tokens could not be revoked at GitHub yet`, {
      retryAfterSeconds: 5,
    })
  return live.length
}

/** Longer than a question to GitHub takes: its own token is under revocation from the start, and must not end in the middle of it. */
const questionMilliseconds = 2 * 60_000

/** Another try for every token whose revocation has not ended; returns how many are still alive. */
export async function revokeLeftOvers(deps: RevokeDeps): Promise<number> {
  const begun = deps.clock.now().getTime() - questionMilliseconds
  const all = await deps.tokens.revoking()
  const left = all.filter(({ subject, mintedAt }) => subject.kind !== platformSubjectKind || mintedAt.getTime() < begun)
  return revokeAll(deps, left, 'tried again')
}

async function revokeAll(deps: RevokeDeps, live: readonly LiveToken[], reason: string): Promise<number> {
  let failed = 0
  for (let start = 0; start < live.length; start += atOnce) {
    const results = await Promise.all(live.slice(start, start + atOnce).map(token => revokeOne(deps, token, reason)))
    failed += results.filter(done => !done).length
  }
  return failed
}

async function revokeOne(deps: RevokeDeps, live: LiveToken, reason: string): Promise<boolean> {
  const { host, appId } = live.installation
  try {
    const name = deps.appNameOf(host, appId)
    if (name === undefined) throw new AppError('not_found', `there is no ClusterGitHubApp for App ${appId} on ${host}`)
    const { client } = await deps.githubApps.get(name)
    const fresh = deps.clock.now().getTime() - live.mintedAt.getTime() < freshMilliseconds
    await client.revoke(live.token, { fresh })
  } catch (error) {
    deps.log.error({ token: live.id, problem: messageOf(error) }, 'a token could not be revoked yet')
    return false
  }
  await deps.audit.append(tokenRecord('token.revoked', actor, live, live.id, 'allowed', reason))
  await deps.tokens.markRevoked(live.id, reason)
  return true
}
