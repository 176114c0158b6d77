// Makes a token with the member of a pool that has the most left, and, when GitHub refuses that one for a reason of its own, once
// with the next. Everything that a token keeps to (registry, audit log, revocation) has the identity of the member that made it.
import { githubReasons, signerRefused } from '../../../github/index.ts'
import { AppError, isAppError, messageOf } from '../../../lib/errors.ts'
import type { LiveToken } from '../../../store/token-registry.ts'
import { type AdmittedRequest, type MintDeps, mint } from '../minting/mint.ts'
import { type RevokeDeps, revokeBy } from '../revoke.ts'
import { inOrder, type Rated } from './choose.ts'
import type { PoolLimits } from './limits.ts'
import type { Member } from './member.ts'

export type PoolDeps = MintDeps & RevokeDeps & { readonly pool: PoolLimits }

/** The first member is the Installation that the grant names. */
export type PooledRequest = Omit<AdmittedRequest, 'client'> & { readonly members: readonly Member[] }

/** What is known of the members now, in their order. */
export function ratedMembers(pool: PoolLimits, members: readonly Member[], grantUid: string): readonly Rated<Member>[] {
  return members.map(member => {
    const { identity, client } = member
    const isRefused = client.mintRefusal(identity.installationId) !== undefined || pool.isLacking(identity, grantUid)
    return { member, left: pool.leftOf(identity), isRefused }
  })
}

const usedUp = 'LimitUsedUp'
const limited: ReadonlySet<string> = new Set([usedUp, githubReasons.rateLimited, githubReasons.paced])
const lacks: ReadonlySet<string> = new Set([githubReasons.repositoryNotAccessible, githubReasons.permissionNotGranted])
const unusable: ReadonlySet<string> = new Set([githubReasons.suspended, githubReasons.credentialRefused, signerRefused])

/**
 * What ends at the Installation that the grant names ends for the grant: only its limits move on to a sibling. A sibling may lack
 * anything. Whether GitHub made a token is unknown without an answer: that is never tried elsewhere.
 */
function movesOn(error: unknown, isNamed: boolean): boolean {
  if (!isAppError(error)) return false
  const { reason = '' } = error
  return limited.has(reason) || (!isNamed && (lacks.has(reason) || unusable.has(reason)))
}

/** As `mint`, which it is where there are no siblings. At most two are asked. */
export async function mintWithPool(deps: PoolDeps, { members, ...request }: PooledRequest): Promise<LiveToken> {
  const { grantUid } = request.intent
  const [named] = members
  if (named === undefined) throw new AppError('internal', 'an admitted request has no member')
  if (members.length === 1) return mint(deps, { ...request, client: named.client })
  const [first = named, second] = inOrder(ratedMembers(deps.pool, members, grantUid))
  try {
    return await mintBy(deps, request, { member: first, hasNext: second !== undefined })
  } catch (error) {
    judge(deps, error, { member: first, named, grantUid })
    if (second === undefined) throw reported(error, { member: first, named })
    const { appId, installationId } = first.identity
    deps.log.info({ appId, installationId, reason: messageOf(error) }, 'another App of the pool makes the token')
  }
  try {
    return await mintBy(deps, request, { member: second, hasNext: false })
  } catch (error) {
    judge(deps, error, { member: second, named, grantUid })
    throw reported(error, { member: second, named })
  }
}

type Asked = { readonly member: Member; readonly named: Member }

/** Throws what another member cannot help with, and remembers what a sibling lacks: what the named one lacks, the grant lacks. */
function judge({ pool }: PoolDeps, error: unknown, { member, named, grantUid }: Asked & { readonly grantUid: string }): void {
  const isNamed = member === named
  if (!isNamed && isAppError(error) && lacks.has(error.reason ?? '')) pool.lacked(member.identity, grantUid)
  if (!movesOn(error, isNamed)) throw error
}

/** What a sibling lacks says nothing about the grant: it was asked because the named one is limited. */
function reported(error: unknown, { member, named }: Asked): unknown {
  if (member === named || (isAppError(error) && limited.has(error.reason ?? ''))) return error
  const message = 'nothing is left of the limit of the installation that the grant names'
  return named.client.mintRefusal(named.identity.installationId) ?? new AppError('too_many_requests', message, { reason: usedUp })
}

type Attempt = { readonly member: Member; readonly hasNext: boolean }

/** Workloads use up the limit where nobody sees it: the new token says what is left. A token that could do nothing is ended. */
async function mintBy(
  deps: PoolDeps,
  request: Omit<AdmittedRequest, 'client'>,
  { member, hasNext }: Attempt,
): Promise<LiveToken> {
  const { identity, endpoints, client } = member
  const intent = { ...request.intent, installation: identity, api: endpoints.api }
  const minted = await mint(deps, { ...request, intent, client })
  await deps.pool.ask(member, minted.token)
  if (!hasNext || deps.pool.leftOf(identity) > 0) return minted
  const reason = 'nothing is left of the limit of its installation: another App of the pool makes the token'
  await revokeBy(deps, { id: minted.id }, reason).catch((error: unknown) => {
    deps.log.info({ token: minted.id, error: messageOf(error) }, 'a token without a limit is revoked later')
  })
  throw new AppError('too_many_requests', reason, { reason: usedUp })
}
