// Revokes tokens: first they can no longer be delivered, then GitHub is asked to revoke them. A token that GitHub does not
// revoke stays in the registry and is retried, later and later, until it expires. Every revocation is audited, and so is the
// first attempt that failed.
import type { RevocationResult, TokenRevoker } from '../../github/index.ts'
import { equalJitter } from '../../lib/backoff.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError, messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import {
  type EndingToken,
  type InstallationIdentity,
  type LiveTokenFilter,
  platformSubjectKind,
  type TokenRegistry,
} from '../../store/token-registry.ts'
import { type AuditAppend, endingFacts, tokenRecord } from './audit/desk-audit.ts'

export type RevokeDeps = {
  readonly tokens: Pick<TokenRegistry, 'liveBy' | 'markRevoking' | 'markRevoked' | 'revoking' | 'deferRevocation'>
  readonly revokeAtGitHub: TokenRevoker
  /**
   * Whether the installation can be used now: a token that waited for the end of a suspension is then revoked without further
   * delay.
   */
  readonly isReady: (installation: InstallationIdentity) => boolean
  readonly audit: AuditAppend
  readonly clock: Clock
  readonly log: Log
}

/** GitHub may refuse a younger token only because not all of its servers know it yet. */
const freshMilliseconds = 10_000
/**
 * Longer than a platform request takes: its single-use token is stored as revoking from the start and must not end before it is
 * used.
 */
const singleUseMilliseconds = 2 * 60_000
/** Requests to GitHub at the same time. */
const concurrency = 8
/** A token lives for an hour, so at most about a dozen attempts are made for it. */
const retry = { baseMilliseconds: 10_000, capMilliseconds: 600_000 }

/** `pending`: GitHub did not revoke it, and it may be usable. `suspended`: nor did it, but the token can be used for nothing. */
type Result = RevocationResult | 'pending'

/** See `TokenDesk.revokeBy`. */
export async function revokeBy(deps: RevokeDeps, filter: LiveTokenFilter, reason: string): Promise<number> {
  const found = await deps.tokens.liveBy(filter)
  const ending = { cause: reason, at: deps.clock.now() }
  if (found.length === 0) return 0
  await deps.tokens.markRevoking(
    found.map(({ id }) => id),
    reason,
  )
  const pending = await revokeAll(
    deps,
    found.map(token => ({ ...token, ending: token.ending ?? ending })),
    reason,
  )
  if (pending > 0)
    throw new AppError('unavailable', `${pending} of ${found.length} tokens could not be revoked at GitHub yet`, {
      retryAfterSeconds: 5,
    })
  return found.length
}

/** Retries every token whose revocation has not ended and that is due; those that fail again are left to a later retry. */
export async function retryRevocations(deps: RevokeDeps): Promise<void> {
  const usedBefore = deps.clock.now().getTime() - singleUseMilliseconds
  const revoking = await deps.tokens.revoking()
  const unused = revoking.filter(
    ({ subject, mintedAt }) => subject.kind !== platformSubjectKind || mintedAt.getTime() < usedBefore,
  )
  await revokeAll(deps, unused, 'retried')
}

/**
 * Resolves to how many may still be usable. Each is tried, and none waits for a slow answer about another one; rejects afterwards
 * when the registry or the audit log failed for one.
 */
async function revokeAll(deps: RevokeDeps, tokens: readonly EndingToken[], reason: string): Promise<number> {
  const left = tokens.values()
  const failures: unknown[] = []
  let pending = 0
  const lane = async (): Promise<void> => {
    for (const token of left) {
      try {
        if ((await revokeOne(deps, token, reason)) === 'pending') pending += 1
      } catch (error) {
        failures.push(error)
      }
    }
  }
  await Promise.all(Array.from({ length: concurrency }, lane))
  if (failures.length > 0) throw failures[0]
  return pending
}

/** What began to end for another reason keeps that one: it is why the token ended. */
async function revokeOne(deps: RevokeDeps, token: EndingToken, given: string): Promise<Result> {
  const reason = token.ending?.cause ?? given
  if (!isDue(deps, token)) return token.suspended ? 'suspended' : 'pending'
  const { api, mintedAt } = token
  const fresh = deps.clock.now().getTime() - mintedAt.getTime() < freshMilliseconds
  let answer: RevocationResult
  try {
    answer = await deps.revokeAtGitHub(api, token.token, { fresh })
    if (answer === 'suspended') return await defer(deps, token, `${reason}; ${suspendedText}`, true)
  } catch (error) {
    // It is in the registry, the audit log and the metrics until it ended.
    deps.log.info({ token: token.id, reason: messageOf(error) }, 'GitHub did not revoke a token yet')
    return defer(deps, token, `${reason}; GitHub did not revoke it yet: ${messageOf(error)}`, false)
  }
  const details = endingFacts(token, answer)
  await deps.audit.append(tokenRecord(token, { action: 'token.revoked', outcome: 'allowed', reason, details }))
  await deps.tokens.markRevoked(token.id, reason)
  return answer
}

const suspendedText =
  'the installation is suspended, and GitHub accepts neither this token nor its revocation: it is revoked when the suspension ends'

function isDue({ clock, isReady }: RevokeDeps, { retryAt, suspended, installation }: EndingToken): boolean {
  if (retryAt === undefined || retryAt.getTime() <= clock.now().getTime()) return true
  return suspended && isReady(installation)
}

/**
 * Records the attempt, and when the next one is due. The audit log gets the first failure only, and the first one of a
 * suspension.
 */
async function defer(deps: RevokeDeps, token: EndingToken, reason: string, suspended: boolean): Promise<Result> {
  const { attempts, id } = token
  const retryAt = new Date(deps.clock.now().getTime() + equalJitter(retry, attempts, Math.random))
  const details = endingFacts(token, suspended ? 'suspended' : 'none')
  if (attempts === 0 || (suspended && !token.suspended))
    await deps.audit.append(tokenRecord(token, { action: 'token.revoked', outcome: 'failed', reason, details }))
  await deps.tokens.deferRevocation(id, { retryAt, suspended })
  return suspended ? 'suspended' : 'pending'
}
