// From an admitted request to a token in the registry: intent (quota) → audit → mint → compare → audit → record. The order is
// the promise: GitHub receives no request before the intent is durable, and no token is delivered before the outcome is. A
// token that fails after GitHub answered is revoked.
import type { AppClient, MintedToken, Permissions } from '../../../github/index.ts'
import type { Clock } from '../../../lib/clock.ts'
import { AppError, isAppError, messageOf } from '../../../lib/errors.ts'
import { defined } from '../../../lib/json/defined.ts'
import type { Log } from '../../../lib/log.ts'
import type { CountedAudit } from '../../../store/audit/counted-audit.ts'
import { hashedToken, type LiveToken, type TokenIntent, type TokenRegistry } from '../../../store/token-registry.ts'
import { type AuditAppend, refusalOf, requestRecord, tokenFacts } from '../audit/desk-audit.ts'
import type { TokenRequest } from '../token-desk.ts'
import { type Difference, differenceOf } from './compare-minted.ts'
import { livesUntil } from './token-life.ts'

export type MintDeps = {
  readonly tokens: Pick<
    TokenRegistry,
    'intendWithin' | 'quotaFreeAt' | 'recordMinted' | 'markRevoking' | 'markRevoked' | 'abandon'
  >
  readonly audit: AuditAppend
  readonly counted: Pick<CountedAudit, 'append'>
  readonly clock: Clock
  readonly log: Log
}

/** An admitted request, with everything that minting needs. */
export type AdmittedRequest = {
  readonly request: TokenRequest
  readonly intent: TokenIntent
  readonly permissions: Permissions
  readonly client: Pick<AppClient, 'mintRefusal' | 'mint' | 'revoke'>
  readonly tokensPerHour: number
  /** How long the token may live. */
  readonly lifeSeconds: number
  /** Why the grant exists, in its requester's words. */
  readonly reason: string
}

/** With the intent's id in the registry. */
type Recorded = AdmittedRequest & { readonly id: string }

const hourMilliseconds = 3_600_000

/**
 * Resolves to the recorded token, which nobody has received yet.
 * @throws AppError `too_many_requests` (reason QuotaExceeded), `integrity_violation` for a token wider than requested,
 * `upstream_failed` for a narrower or unusable one, `unavailable` when the log or the registry failed, and what the client to
 * GitHub throws
 */
export async function mint(deps: MintDeps, admitted: AdmittedRequest): Promise<LiveToken> {
  const { request, intent, reason } = admitted
  // Before the intent: requests while GitHub is unreachable must not use up the tenant's quota.
  const refused = admitted.client.mintRefusal(admitted.intent.installation.installationId)
  if (refused !== undefined) throw refused
  const id = await intend(deps, admitted)
  const recorded: Recorded = { ...admitted, id }
  const details = tokenFacts(intent, id)
  await deps.audit.append(requestRecord(request, { action: 'token.intended', outcome: 'allowed', reason, details }))
  const minted = await mintAtGitHub(deps, recorded)
  const difference = differenceOf(intent, minted, deps.clock.now())
  if (difference !== undefined) return refuse(deps, recorded, minted, difference)
  const life = {
    expiresAt: minted.expiresAt,
    ...defined({ livesUntil: livesUntil(admitted.lifeSeconds, deps.clock.now(), minted.expiresAt) }),
  }
  try {
    // In this order: once the token is in the registry, any process may find and deliver it, also after this one crashed.
    const withEnd = { ...details, hashedToken: hashedToken(minted.token), ...endsOf(life) }
    await deps.audit.append(requestRecord(request, { action: 'token.minted', outcome: 'allowed', reason, details: withEnd }))
    await deps.tokens.recordMinted(id, { ...minted, ...life })
  } catch (error) {
    // The registry or the log failed: fail closed, and leave no token that nothing accounts for.
    await takeBack(deps, recorded, minted, 'it could not be recorded')
    throw new AppError('unavailable', 'the token could not be recorded and was not delivered', { cause: error })
  }
  const { token, repositoryIds, permissions } = minted
  return { ...intent, id, token, ...life, repositoryIds, permissions, mintedAt: deps.clock.now() }
}

function endsOf({ expiresAt, livesUntil }: Pick<LiveToken, 'expiresAt' | 'livesUntil'>): Record<string, string> {
  return { expiresAt: expiresAt.toISOString(), ...defined({ livesUntil: livesUntil?.toISOString() }) }
}

async function intend(deps: MintDeps, { request, intent, tokensPerHour }: AdmittedRequest): Promise<string> {
  const since = new Date(deps.clock.now().getTime() - hourMilliseconds)
  const quota = { limit: tokensPerHour, since }
  const id = await deps.tokens.intendWithin(intent, quota)
  if (id !== undefined) return id
  const reason = `the tenant has used its ${tokensPerHour} tokens of this hour`
  await deps.counted.append(refusalOf(request, { check: 'QuotaExceeded', reason, facts: intent.facts ?? {} }))
  // A quota of nothing never has room: it is looked at again after an hour.
  const freeAt = tokensPerHour < 1 ? undefined : await deps.tokens.quotaFreeAt(intent.subject.namespace, quota)
  const wait = freeAt === undefined ? hourMilliseconds : freeAt.getTime() - deps.clock.now().getTime()
  const retryAfterSeconds = Math.max(1, Math.ceil(wait / 1000))
  throw new AppError('too_many_requests', reason, { reason: 'QuotaExceeded', retryAfterSeconds })
}

async function mintAtGitHub(deps: MintDeps, { request, intent, permissions, client, id }: Recorded): Promise<MintedToken> {
  try {
    const { installationId } = intent.installation
    return await client.mint({ installationId, repositoryIds: intent.repositoryIds, permissions })
  } catch (error) {
    // Without an answer it is unknown whether GitHub made a token; if it did, nobody has it, and it expires within the hour.
    const unknown = isAppError(error, 'unavailable') && error.reason !== undefined
    const reason = unknown ? `no answer from GitHub: ${messageOf(error)}` : messageOf(error)
    await deps.tokens.abandon(id, reason)
    const details = tokenFacts(intent, id)
    await deps.audit.append(requestRecord(request, { action: 'token.refused', outcome: 'failed', reason, details }))
    throw error
  }
}

async function refuse(deps: MintDeps, recorded: Recorded, minted: MintedToken, difference: Difference): Promise<never> {
  const { request, intent, id } = recorded
  const { kind, message: reason } = difference
  deps.log.error({ token: id, difference: kind, grant: intent.grantName }, 'GitHub minted another token than requested')
  await takeBack(deps, recorded, minted, reason)
  const details = { ...tokenFacts(intent, id), difference: kind }
  await deps.audit.append(requestRecord(request, { action: 'token.refused', outcome: 'denied', reason, details }))
  const code = kind === 'wider' ? 'integrity_violation' : 'upstream_failed'
  throw new AppError(code, reason, { reason: `Token${kind[0]?.toUpperCase()}${kind.slice(1)}` })
}

/**
 * Stores the token as one that is being revoked, so that after a crash the sweep revokes it and nobody ever delivers it; then
 * revokes it at GitHub. Never throws: what fails is left to the sweep.
 */
async function takeBack(deps: MintDeps, { client, id }: Recorded, minted: MintedToken, reason: string): Promise<void> {
  await recordRevoking(deps, id, minted, reason)
  try {
    await client.revoke(minted.token, { fresh: true })
    await deps.tokens.abandon(id, reason)
  } catch (error) {
    deps.log.error({ token: id, error: messageOf(error) }, 'failed to revoke a token that must not be delivered; the sweep will')
  }
}

async function recordRevoking(deps: MintDeps, id: string, minted: MintedToken, reason: string): Promise<void> {
  try {
    await deps.tokens.recordMinted(id, minted, reason)
  } catch (error) {
    deps.log.debug({ token: id, error: messageOf(error) }, 'token is already in the registry, or cannot be recorded')
    // It may have been recorded as deliverable although the answer of the registry was lost.
    await deps.tokens.markRevoking([id], reason).catch((failure: unknown) => {
      deps.log.error({ token: id, error: messageOf(failure) }, 'failed to record a token that must not be delivered')
    })
  }
}
