// The token desk: the one way to a token. gather → checks → an active token of the registry, or mint → recheck → record → audit → deliver.
// It decides nothing about grants (their controller does) and keeps no token in memory beyond one request.
import type { Tenant } from '../api/tenancy/tenant.ts'
import { type AppClient, githubReasons } from '../github/index.ts'
import { AppError, isAppError, messageOf } from '../lib/errors.ts'
import { SingleFlight } from '../lib/single-flight.ts'
import type { LiveToken, TokenRegistry } from '../store/token-registry.ts'
import { type Admitted, admit } from './checks.ts'
import { requestRecord, tokenFacts } from './desk-audit.ts'
import { type GatherDeps, gather } from './gather.ts'
import { intentOf } from './minting/intent.ts'
import { type AdmittedRequest, type MintDeps, mint } from './minting/mint.ts'
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
/** While GitHub is unreachable, a token with less of its life is better than none; an expired one is never delivered. */
const lifeWhileUnreachableSeconds = 60
const defaultTokensPerHour = 600

type Admission = { readonly admitted: Admitted; readonly client: AppClient | undefined }

/** Concurrent equal requests share one mint in this process; across processes the registry's active token is shared. */
export function createTokenDesk(deps: TokenDeskDeps): TokenDesk {
  const inProgress = new SingleFlight<LiveToken>()

  const findOrMint = async (request: TokenRequest, { admitted, client }: Admission): Promise<LiveToken> => {
    const intent = intentOf(admitted)
    return inProgress.run(intent.cacheKey, async () => {
      const active = await deps.tokens.findLive(intent.cacheKey, minimumLifeSeconds)
      if (active !== undefined) return active
      if (client === undefined) throw new AppError('internal', 'an admitted request has no client to GitHub')
      const { permissions, reason } = admitted.grant.spec
      const tokensPerHour = deps.tenantOf(intent.subject.namespace)?.spec.limits?.tokensPerHour ?? defaultTokensPerHour
      return mintOrReuse(deps, { request, intent, permissions, client, tokensPerHour, reason })
    })
  }

  return {
    async request(request) {
      const admission = await admitOrRefuse(deps, request)
      const { admitted } = admission
      const active = await findOrMint(request, admission)
      // Whoever ends a grant first marks it and then revokes what is registered. The token is registered now: so either this recheck
      // observes the mark, or the revocation found the token.
      await recheck(deps, request, active.grantUid)
      await deps.tokens.recordDelivered(active.id)
      const { reason } = admitted.grant.spec
      const details = tokenFacts(active, active.id)
      await deps.audit.append(requestRecord(request, { action: 'token.delivered', outcome: 'allowed', reason, details }))
      return delivered(active, admitted)
    },
    revokeBy: (filter, reason) => revokeBy(deps, filter, reason),
  }
}

/** @throws AppError `forbidden` with the refusal's reason, after the refusal is in the audit log */
async function admitOrRefuse(deps: TokenDeskDeps, request: TokenRequest): Promise<Admission> {
  const { facts, client } = await gather(deps, request)
  const decision = admit(facts)
  if ('admitted' in decision) return { admitted: decision.admitted, client }
  const { reason: check, message: reason } = decision.refusal
  const details = { check, subject: { ...request.subject } }
  await deps.audit.append(requestRecord(request, { action: 'token.refused', outcome: 'denied', reason, details }))
  throw new AppError('forbidden', reason, { reason: check })
}

/** Admits once more; when the request is refused by now, revokes the grant's tokens and rejects. */
async function recheck(deps: TokenDeskDeps, request: TokenRequest, grantUid: string): Promise<void> {
  try {
    await admitOrRefuse(deps, request)
  } catch (error) {
    if (isAppError(error, 'forbidden'))
      await revokeBy(deps, { grantUid }, error.message).catch((failure: unknown) =>
        deps.log.error({ grantUid, error: messageOf(failure) }, 'failed to revoke the tokens of an ended grant'),
      )
    throw error
  }
}

/** Mints; when GitHub is unreachable, an active token with less of its life left is used instead. */
async function mintOrReuse(deps: TokenDeskDeps, request: AdmittedRequest): Promise<LiveToken> {
  try {
    return await mint(deps, request)
  } catch (error) {
    const { cacheKey } = request.intent
    const last = isUnreachable(error) ? await deps.tokens.findLive(cacheKey, lifeWhileUnreachableSeconds) : undefined
    if (last === undefined) throw error
    return last
  }
}

function isUnreachable(error: unknown): boolean {
  return isAppError(error) && (error.reason === githubReasons.unreachable || error.reason === githubReasons.rateLimited)
}

/** Names are those of the decision, for people and for git; the token itself is minted by id. */
function delivered(active: LiveToken, { repositories, app }: Admitted): DeliveredToken {
  const names = new Map(repositories.map(({ id, name }) => [id, name]))
  return {
    token: active.token,
    expiresAt: active.expiresAt,
    repositories: active.repositoryIds.map(id => ({ id, fullName: names.get(id) ?? '' })),
    permissions: active.permissions,
    host: app.host,
  }
}
