// The token desk: the one way to a token. gather → checks → an active token of the registry, or mint → recheck → record → audit
// → deliver. It decides nothing about grants (their controller does) and keeps no token in memory beyond one request.
import { type RepositoryGrant, repositoryGrant } from '../../api/github/repository-grant.ts'
import { githubReasons } from '../../github/index.ts'
import { AppError, isAppError, messageOf } from '../../lib/errors.ts'
import { defined } from '../../lib/json/defined.ts'
import { SingleFlight } from '../../lib/single-flight.ts'
import { tokenSeconds } from '../../policy/grants/token-lifetime.ts'
import type { LiveToken, TokenRegistry } from '../../store/token-registry.ts'
import { deliveryOf, refusalOf, requestFacts } from './audit/desk-audit.ts'
import { type Admitted, admit, haltedReason } from './checks.ts'
import { type GatherDeps, type Gathered, gatherCached, gatherFresh } from './gather.ts'
import { intentOf } from './minting/intent.ts'
import { minimumLifeSeconds } from './minting/token-life.ts'
import { worthUsing } from './pool/choose.ts'
import { createPoolLimits, type PoolLimitsDeps } from './pool/limits.ts'
import { isSameInstallation, type Member, mayMint, memberOf } from './pool/member.ts'
import { mintWithPool, type PoolDeps, type PooledRequest, ratedMembers } from './pool/mint-with-pool.ts'
import { timed } from './reporting/measured-desk.ts'
import type { DeskMetrics } from './reporting/metrics.ts'
import { revokeBy } from './revoke.ts'
import { createSharedReads } from './shared-reads.ts'
import type { DeliveredToken, TokenDesk, TokenRequest } from './token-desk.ts'

export type TokenDeskDeps = GatherDeps &
  Omit<PoolDeps, 'pool'> &
  PoolLimitsDeps & {
    readonly tokens: TokenRegistry
    /** Makes the controller check a grant at GitHub soon. */
    readonly wakeGrant: (grant: RepositoryGrant) => Promise<void>
    /** Told how long each attempt to make a token took. */
    readonly minting?: DeskMetrics['minted']
  }

type DeskDeps = TokenDeskDeps & PoolDeps

/** While GitHub is unreachable, a token with less of its life is better than none; an expired one is never delivered. */
const lifeWhileUnreachableSeconds = 60
const defaultTokensPerHour = 600
/** As often as the controller checks a grant that is in use, and some minutes. */
const checkedRecentlyMilliseconds = 4_500_000

/** The first member is the Installation that the grant names; the others are its siblings that may make the token. */
type Admission = { readonly admitted: Admitted; readonly members: readonly Member[] }

// Memory (token requests in progress): equal concurrent requests → one look-up or mint
//   life: until it settles
//   bound: requests in progress
//   freshness: its end
//   replicas: each: at most one more token, which is registered and counted (test/integration/replicas-controllers.test.ts)
/** Concurrent equal requests share one mint in this process; across processes the registry's active token is shared. */
export function createTokenDesk(given: TokenDeskDeps): TokenDesk {
  const deps: DeskDeps = { ...given, client: createSharedReads(given.client), pool: createPoolLimits(given) }
  const inProgress = new SingleFlight<LiveToken>()

  const findOrMint = async (request: TokenRequest, { admitted, members }: Admission): Promise<LiveToken> => {
    const intent = { ...intentOf(admitted), facts: requestFacts(request, admitted.grant) }
    return inProgress.run(intent.cacheKey, async () => {
      const lifeSeconds = tokenSeconds(admitted.grant.status?.tokenLifetimes, admitted.subject)
      const least = minimumLifeSeconds(admitted.subject.kind, lifeSeconds)
      const active = await deps.tokens.findLive(intent.cacheKey, least, makersOf(deps, members, intent.grantUid))
      if (active !== undefined) return active
      // GitHub is asked for nothing under a grant that ended a moment ago.
      const fresh = requireSame(await admitFresh(deps, request), intent.cacheKey)
      const { permissions, reason } = admitted.grant.spec
      const tokensPerHour = deps.tenantOf(intent.subject.namespace)?.spec.limits?.tokensPerHour ?? defaultTokensPerHour
      const all = { request, intent, permissions, members: fresh.members, tokensPerHour, reason, lifeSeconds }
      const minted = await mintOrReuse(deps, all)
      await checkSoon(deps, admitted.grant)
      return minted
    })
  }

  return {
    async grantUid({ namespace, name }) {
      const cached = deps.cached.grants.get({ namespace, name })
      const grant = cached ?? (await deps.client.get(repositoryGrant, { namespace, name }))
      return grant?.metadata.uid
    },
    async request(request) {
      const admission = await admitRequest(deps, request)
      const { admitted } = admission
      const active = await findOrMint(request, admission)
      // Whoever ends a grant first marks it and then revokes what is registered. The token is registered now: so either this
      // recheck observes the mark, or the revocation found the token.
      requireMember(requireSame(await recheck(deps, request, active), active.cacheKey), active)
      await deps.tokens.recordDelivered(active.id)
      const { grant } = admitted
      await deps.counted.append(deliveryOf(request, active, requestFacts(request, grant), grant.spec.reason))
      return delivered(active, admitted)
    },
    async refusalNow(request, repositoryId) {
      const decision = admit((await gatherCached(deps, request)).facts)
      if ('refusal' in decision) return decision.refusal.message
      const isHeld = decision.admitted.repositories.some(({ id }) => id === repositoryId)
      return isHeld ? undefined : 'the grant does not hold for this repository any more'
    },
    revokeBy: (filter, reason) => revokeBy(deps, filter, reason),
  }
}

/** By the caches; what they refuse is decided by the API server, because the caches may not have observed an approval yet. */
async function admitRequest(deps: DeskDeps, request: TokenRequest): Promise<Admission> {
  const gathered = await gatherCached(deps, request)
  const decision = admit(gathered.facts)
  return 'admitted' in decision ? admission(gathered, decision.admitted) : admitFresh(deps, request)
}

function admission({ facts, named, siblings }: Gathered, admitted: Admitted): Admission {
  if (named === undefined) throw new AppError('internal', 'an admitted request has no client to GitHub')
  return { admitted, members: [named, ...siblings.filter(one => mayMint(facts, admitted.grant, one))].map(memberOf) }
}

/** @throws AppError `forbidden` with the refusal's reason, after the refusal is in the audit log */
async function admitFresh(deps: DeskDeps, request: TokenRequest): Promise<Admission> {
  const gathered = await gatherFresh(deps, request)
  const { facts } = gathered
  const decision = admit(facts)
  if ('admitted' in decision) return admission(gathered, decision.admitted)
  const { reason: check, message: reason } = decision.refusal
  const meant = facts.grant?.metadata.uid === facts.grantUid ? facts.grant : undefined
  await deps.counted.append(refusalOf(request, { check, reason, facts: requestFacts(request, meant) }))
  throw new AppError('forbidden', reason, { reason: check })
}

/**
 * A grant that was at rest may not have been checked at GitHub for hours: it is checked while its new token is in use, as the
 * others are.
 */
async function checkSoon(deps: DeskDeps, grant: RepositoryGrant): Promise<void> {
  const checkedAt = Date.parse(grant.status?.checkedAt ?? '')
  if (deps.clock.now().getTime() - checkedAt < checkedRecentlyMilliseconds) return
  await deps.wakeGrant(grant).catch((error: unknown) => {
    deps.log.error(
      { grant: grant.metadata.name, error: messageOf(error) },
      'failed to wake a grant that was not checked for long',
    )
  })
}

/** The caches may have shown an older grant or Installation: what is minted and delivered is what the API server has now. */
function requireSame(fresh: Admission, cacheKey: string): Admission {
  if (intentOf(fresh.admitted).cacheKey === cacheKey) return fresh
  throw new AppError('unavailable', 'the grant or its Installation has just changed: try again', { retryAfterSeconds: 1 })
}

/** A token is delivered only while the Installation that made it may make one. */
function requireMember({ members }: Admission, { installation }: LiveToken): void {
  if (members.some(({ identity }) => isSameInstallation(identity, installation))) return
  const message = 'the Installation that made the token cannot be used any more: try again'
  throw new AppError('unavailable', message, { retryAfterSeconds: 1 })
}

/** Those whose live tokens count, and not one that can do nothing while another member can make a token. */
function makersOf({ pool }: DeskDeps, members: readonly Member[], grantUid: string) {
  return worthUsing(ratedMembers(pool, members, grantUid)).map(({ identity }) => identity)
}

/**
 * Admits once more; when the request is refused by now, revokes the grant's tokens and rejects. A Halt may be about this subject
 * only: its controller revokes the others.
 */
async function recheck(deps: DeskDeps, request: TokenRequest, { id, grantUid }: LiveToken): Promise<Admission> {
  try {
    return await admitFresh(deps, request)
  } catch (error) {
    if (isAppError(error, 'forbidden'))
      await revokeBy(deps, error.reason === haltedReason ? { id } : { grantUid }, error.message).catch((failure: unknown) =>
        deps.log.error({ grantUid, error: messageOf(failure) }, 'failed to revoke the tokens of an ended grant'),
      )
    throw error
  }
}

/** Mints; when GitHub is unreachable, an active token with less of its life left is used instead. */
async function mintOrReuse(deps: DeskDeps, request: PooledRequest): Promise<LiveToken> {
  try {
    return await timed(deps.clock, () => mintWithPool(deps, request), {
      done: seconds => deps.minting?.('minted', seconds),
      failed: seconds => deps.minting?.('failed', seconds),
    })
  } catch (error) {
    const { cacheKey } = request.intent
    const makers = request.members.map(({ identity }) => identity)
    const last = isUnreachable(error) ? await deps.tokens.findLive(cacheKey, lifeWhileUnreachableSeconds, makers) : undefined
    if (last === undefined) throw error
    return last
  }
}

/** GitHub made no token: it did not answer, it limits us, or the platform did not ask it. */
const unasked: ReadonlySet<string> = new Set([githubReasons.unreachable, githubReasons.rateLimited, githubReasons.paced])

function isUnreachable(error: unknown): boolean {
  return isAppError(error) && unasked.has(error.reason ?? '')
}

/** Names are those of the decision, for people and for git; the token itself is minted by id. */
function delivered(active: LiveToken, { repositories, app, grant, subject }: Admitted): DeliveredToken {
  const names = new Map(repositories.map(({ id, name }) => [id, name]))
  const expiresAt = active.livesUntil ?? active.expiresAt
  const lifeSeconds = tokenSeconds(grant.status?.tokenLifetimes, subject)
  return {
    token: active.token,
    mintedAt: active.mintedAt,
    expiresAt,
    renewFrom: new Date(expiresAt.getTime() - minimumLifeSeconds(subject.kind, lifeSeconds) * 1000),
    repositories: active.repositoryIds.map(id => ({ id, fullName: names.get(id) ?? '' })),
    permissions: active.permissions,
    endpoints: { host: app.host, web: app.web, api: app.api },
    ...defined({ refs: grant.spec.git?.refs }),
  }
}
