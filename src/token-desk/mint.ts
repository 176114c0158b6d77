// From an admitted wish to a token in the registry: intent (quota) → audit → mint → compare → record → audit. The order is the promise:
// no request to GitHub before the intent is durable, nothing leaves before the outcome is. What goes wrong after GitHub answered ends
// with the token revoked.
import type { AppClient, MintedToken, Permissions } from '../github/index.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError, isAppError, messageOf } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { LiveToken, TokenIntent, TokenRegistry } from '../store/token-registry.ts'
import { type Difference, differenceOf } from './compare-minted.ts'
import { type AuditAppend, requestRecord, tokenFacts } from './desk-audit.ts'
import type { TokenRequest } from './token-desk.ts'

export type MintDeps = {
  readonly tokens: Pick<TokenRegistry, 'intendWithin' | 'recordMinted' | 'markRevoking' | 'markRevoked' | 'abandon'>
  readonly audit: AuditAppend
  readonly clock: Clock
  readonly log: Log
}

export type MintOrder = {
  readonly request: TokenRequest
  readonly wish: TokenIntent
  readonly permissions: Permissions
  readonly client: Pick<AppClient, 'mint' | 'revoke'>
  readonly tokensPerHour: number
  /** Why the grant exists, in its requester's words. */
  readonly why: string
}

const hourMilliseconds = 3_600_000

export async function mintUnder(deps: MintDeps, order: MintOrder): Promise<LiveToken> {
  const { request, wish } = order
  const id = await intend(deps, order)
  const details = tokenFacts(wish, id)
  await deps.audit.append(requestRecord('token.intended', request, 'allowed', order.why, details))
  const minted = await mint(deps, order, id)
  const difference = differenceOf(wish, minted, deps.clock.now())
  if (difference !== undefined) return refuse(deps, order, id, minted, difference)
  try {
    // In this order: from the moment it is in the registry anybody may find it there and deliver it, also after we died.
    const expiresAt = minted.expiresAt.toISOString()
    await deps.audit.append(requestRecord('token.minted', request, 'allowed', order.why, { ...details, expiresAt }))
    await deps.tokens.recordMinted(id, minted)
  } catch (error) {
    // The registry or the log did not take it: fail closed, and leave no token behind that nobody answers for.
    await takeBack(deps, order, id, minted, 'it could not be recorded')
    throw new AppError('unavailable', 'the token could not be recorded and was not delivered', { cause: error })
  }
  const { token, expiresAt, repositoryIds, permissions } = minted
  return { ...wish, id, token, expiresAt, repositoryIds, permissions, mintedAt: deps.clock.now() }
}

async function intend(deps: MintDeps, { request, wish, tokensPerHour }: MintOrder): Promise<string> {
  const since = new Date(deps.clock.now().getTime() - hourMilliseconds)
  const id = await deps.tokens.intendWithin(wish, { limit: tokensPerHour, since })
  if (id !== undefined) return id
  const reason = `the tenant has used its ${tokensPerHour} tokens of this hour`
  await deps.audit.append(requestRecord('token.refused', request, 'denied', reason, { check: 'QuotaExceeded' }))
  throw new AppError('too_many_requests', reason, { reason: 'QuotaExceeded', retryAfterSeconds: 60 })
}

async function mint(deps: MintDeps, order: MintOrder, id: string): Promise<MintedToken> {
  const { wish, permissions } = order
  try {
    const { installationId } = wish.installation
    return await order.client.mint({ installationId, repositoryIds: wish.repositoryIds, permissions })
  } catch (error) {
    // Without an answer nobody knows whether a token was made; if so, nobody has it, and it ends within the hour.
    const unknown = isAppError(error, 'unavailable') && error.reason !== undefined
    const reason = unknown ? `no answer from GitHub: ${messageOf(error)}` : messageOf(error)
    await deps.tokens.abandon(id, reason)
    await deps.audit.append(requestRecord('token.refused', order.request, 'failed', reason, tokenFacts(wish, id)))
    throw error
  }
}

async function refuse(deps: MintDeps, order: MintOrder, id: string, minted: MintedToken, difference: Difference): Promise<never> {
  const { request, wish } = order
  deps.log.error(
    { token: id, difference: difference.kind, grant: wish.grantName },
    'GitHub minted another token than was asked for',
  )
  await takeBack(deps, order, id, minted, difference.message)
  const details = { ...tokenFacts(wish, id), difference: difference.kind }
  await deps.audit.append(requestRecord('token.refused', request, 'denied', difference.message, details))
  const code = difference.kind === 'wider' ? 'integrity_violation' : 'upstream_failed'
  throw new AppError(code, difference.message, { reason: `Token${difference.kind[0]?.toUpperCase()}${difference.kind.slice(1)}` })
}

/** Revokes at GitHub; when that fails, the token stays in the registry as one that the sweep has to revoke. Never throws. */
async function takeBack(deps: MintDeps, order: MintOrder, id: string, minted: MintedToken, why: string): Promise<void> {
  try {
    await order.client.revoke(minted.token, { fresh: true })
    await deps.tokens.abandon(id, why)
  } catch (error) {
    deps.log.error({ token: id, problem: messageOf(error) }, 'a token that must not be delivered could not be revoked at once')
    await leaveToSweep(deps, id, minted, why)
  }
}

async function leaveToSweep(deps: MintDeps, id: string, minted: MintedToken, why: string): Promise<void> {
  try {
    await deps.tokens.recordMinted(id, minted)
  } catch (error) {
    deps.log.debug({ token: id, problem: messageOf(error) }, 'the token is in the registry already, or cannot be put there')
  }
  try {
    await deps.tokens.markRevoking(id, why)
  } catch (error) {
    deps.log.error(
      { token: id, problem: messageOf(error) },
      'the registry does not answer: the token ends by itself within the hour',
    )
  }
}
