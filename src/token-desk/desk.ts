// The token desk: the one way to a token. gather → checks → a live token of the registry, or mint → look again → audit → deliver.
// It decides nothing about grants (their controller does) and keeps no token in memory beyond one request.
import type { Tenant } from '../api/tenancy/tenant.ts'
import { githubReasons } from '../github/index.ts'
import { AppError, isAppError, messageOf } from '../lib/errors.ts'
import { SingleFlight } from '../lib/single-flight.ts'
import type { LiveToken, TokenIntent, TokenRegistry } from '../store/token-registry.ts'
import { cacheKey } from './cache-key.ts'
import { type Admitted, admit } from './checks.ts'
import { requestRecord, tokenFacts } from './desk-audit.ts'
import { type GatherDeps, type Gathered, gather } from './gather.ts'
import { type MintDeps, mintUnder } from './mint.ts'
import { type RevokeDeps, revokeBy } from './revoke.ts'
import type { DeliveredToken, TokenDesk, TokenRequest } from './token-desk.ts'

export type TokenDeskDeps = GatherDeps &
  MintDeps &
  RevokeDeps & {
    readonly tokens: TokenRegistry
    readonly tenantOf: (namespace: string) => Tenant | undefined
  }

/** A delivered token has at least this much of its life left. */
const minimumLifeSeconds = 600
/** While GitHub is away a token with less of its life is better than none; one that has ended is never delivered. */
const lifeWhileAwaySeconds = 60
const defaultTokensPerHour = 600

export function createTokenDesk(deps: TokenDeskDeps): TokenDesk {
  const minting = new SingleFlight<LiveToken>()

  const liveOrMinted = async (request: TokenRequest, admitted: Admitted, gathered: Gathered): Promise<LiveToken> => {
    const wish = wishOf(admitted)
    return minting.run(wish.cacheKey, async () => {
      const known = await deps.tokens.findLive(wish.cacheKey, minimumLifeSeconds)
      if (known !== undefined) return known
      const { client } = gathered
      if (client === undefined) throw new AppError('internal', 'an admitted request has no client to GitHub')
      const { spec } = admitted.grant
      try {
        // Before the intent: asking a GitHub that is away must not use up the tenant's quota.
        const refusal = client.refusal()
        if (refusal !== undefined) throw refusal
        return await mintUnder(deps, {
          request,
          wish,
          permissions: spec.permissions,
          client,
          tokensPerHour: deps.tenantOf(wish.subject.namespace)?.spec.limits?.tokensPerHour ?? defaultTokensPerHour,
          why: spec.reason,
        })
      } catch (error) {
        const last = isGitHubAway(error) ? await deps.tokens.findLive(wish.cacheKey, lifeWhileAwaySeconds) : undefined
        if (last === undefined) throw error
        return last
      }
    })
  }

  const admitOrRefuse = async (request: TokenRequest): Promise<{ readonly gathered: Gathered; readonly admitted: Admitted }> => {
    const gathered = await gather(deps, request)
    const verdict = admit(gathered.facts)
    if ('admitted' in verdict) return { gathered, admitted: verdict.admitted }
    const { reason, message } = verdict.refusal
    await deps.audit.append(
      requestRecord('token.refused', request, 'denied', message, { check: reason, subject: { ...request.subject } }),
    )
    throw new AppError('forbidden', message, { reason })
  }

  const lookAgain = async (request: TokenRequest, grantUid: string): Promise<void> => {
    try {
      await admitOrRefuse(request)
    } catch (error) {
      if (isAppError(error, 'forbidden'))
        await revokeBy(deps, { grantUid }, error.message).catch((problem: unknown) =>
          deps.log.error({ grantUid, problem: messageOf(problem) }, 'tokens of a grant that ended are left to the sweep'),
        )
      throw error
    }
  }

  return {
    async request(request) {
      const { gathered, admitted } = await admitOrRefuse(request)
      const live = await liveOrMinted(request, admitted, gathered)
      // Whoever ends a grant first marks it and then revokes what is registered. The token is registered now: so either this second
      // look sees the mark, or the revoker saw the token.
      await lookAgain(request, live.grantUid)
      await deps.tokens.recordDelivered(live.id)
      const { reason } = admitted.grant.spec
      await deps.audit.append(requestRecord('token.delivered', request, 'allowed', reason, tokenFacts(live, live.id)))
      return delivered(live, admitted)
    },
    revokeBy: (filter, reason) => revokeBy(deps, filter, reason),
  }
}

function isGitHubAway(error: unknown): boolean {
  return isAppError(error) && (error.reason === githubReasons.unreachable || error.reason === githubReasons.rateLimited)
}

function wishOf({ grant, grantUid, installation, app, subject, repositories }: Admitted): TokenIntent {
  const wish = {
    installation: { host: app.host, appId: app.appId, installationId: installation.spec.installationId },
    grantUid,
    subject,
    repositoryIds: [...new Set(repositories.map(repository => repository.id))].sort((a, b) => a - b),
    permissions: grant.spec.permissions,
  }
  return { ...wish, grantName: grant.metadata.name, cacheKey: cacheKey(wish) }
}

/** Names are those of the decision, for people and for git; the token itself goes by id. */
function delivered(live: LiveToken, { repositories, app }: Admitted): DeliveredToken {
  const names = new Map(repositories.map(({ id, name }) => [id, name]))
  return {
    token: live.token,
    expiresAt: live.expiresAt,
    repositories: live.repositoryIds.map(id => ({ id, fullName: names.get(id) ?? '' })),
    permissions: live.permissions,
    host: app.host,
  }
}
