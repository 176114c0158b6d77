// Asks GitHub, as the App, which repositories the names of a grant mean and what access its requester has to them. The token
// can read metadata of those repositories and nothing else, is audited before it exists, never leaves this file and is revoked
// after use. Writes nothing except to the audit log.
import type { RepositoryGrant } from '../../api/github/repository-grant.ts'
import {
  createRepositoryClient,
  type Fetch,
  type MintedToken,
  type RepositoryClient,
  type RepositoryPermission,
} from '../../github/index.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError, isAppError } from '../../lib/errors.ts'
import { defined } from '../../lib/json/defined.ts'
import type { GitHubApp } from '../../services/token-desk/app-clients.ts'
import { type PlatformRequest, type SingleUseTokenDeps, withSingleUseToken } from '../../services/token-desk/single-use-token.ts'

export type Repository = { readonly id: number; readonly name: string }

export type RequesterAccess =
  /** Not a person on this GitHub host. */
  | { readonly kind: 'unknown' }
  /** The person's role, by repository id. */
  | { readonly kind: 'known'; readonly login: string; readonly permissions: ReadonlyMap<number, RepositoryPermission> }

/**
 * `found` contains every repository of the grant once, in its order; `missing` names those that the installation does not
 * reach.
 */
export type ProbeAnswer =
  | { readonly kind: 'found'; readonly repositories: readonly Repository[]; readonly requester: RequesterAccess }
  | { readonly kind: 'missing'; readonly names: readonly string[] }

export type ProbeDeps = SingleUseTokenDeps & {
  readonly clock: Clock
  readonly fetch?: Fetch
}

export type ProbeRequest = {
  readonly grant: RepositoryGrant
  readonly installationId: number
  /** The repositories of an earlier approval: their ids count then, not the names in the spec. */
  readonly known: readonly Repository[] | undefined
  readonly requesterId: number | undefined
}

const permissions = { metadata: 'read' } as const

/**
 * @throws AppError when nothing could be learned: GitHub or the audit log failed, or the token has more access than was
 * requested
 */
export async function probe(deps: ProbeDeps, app: GitHubApp, request: ProbeRequest): Promise<ProbeAnswer> {
  const { grant, known } = request
  const names = known?.map(({ name }) => name) ?? grant.spec.repositories
  const answer = await withSingleUseToken(deps, app, {
    request: platformRequest(request),
    mint: () => mint(app, request),
    use: async (minted): Promise<ProbeAnswer> => {
      const repositories = matched(minted, request)
      if (repositories === undefined) return { kind: 'missing', names: missingNames(minted, names) }
      return {
        kind: 'found',
        repositories,
        requester: await accessOf(clientOf(deps, app, minted), repositories, request.requesterId),
      }
    },
  })
  return answer ?? { kind: 'missing', names }
}

/** Undefined when GitHub answers that the installation does not reach one of the repositories. */
async function mint(app: GitHubApp, { installationId, known, grant }: ProbeRequest): Promise<MintedToken | undefined> {
  const bare = [...new Set(grant.spec.repositories.map(name => name.slice(name.indexOf('/') + 1)))]
  const reach = known === undefined ? { repositoryNames: bare } : { repositoryIds: known.map(({ id }) => id) }
  try {
    return await app.client.mint({ installationId, permissions, ...reach })
  } catch (error) {
    if (isAppError(error, 'not_found')) return undefined
    throw error
  }
}

/**
 * GitHub takes names without an owner, so the full names are compared here: case-insensitively, as GitHub does. Undefined when
 * one is missing.
 */
function matched(minted: MintedToken, { grant, known }: ProbeRequest): readonly Repository[] | undefined {
  if (Object.entries(minted.permissions).some(([name, level]) => name !== 'metadata' || level !== 'read'))
    throw new AppError('integrity_violation', "GitHub's token for the check has more permissions than metadata: read")
  const answered = new Map(minted.repositories.map(({ id, fullName }) => [id, fullName]))
  const wanted =
    known?.map(({ id }) => id) ??
    grant.spec.repositories.map(name => minted.repositories.find(({ fullName }) => sameName(fullName, name))?.id)
  // Two names can mean one repository: the status holds each id once.
  const repositories = [...new Set(wanted)].map(id => ({ id: id ?? 0, name: answered.get(id ?? 0) ?? '' }))
  if (repositories.some(({ name }) => name === '')) return undefined
  const extra = minted.repositoryIds.find(id => !wanted.includes(id))
  if (extra !== undefined && known !== undefined)
    throw new AppError(
      'integrity_violation',
      `GitHub's token for the check reaches ${answered.get(extra) ?? 'repository'} (id ${extra}), which was not requested`,
    )
  return repositories
}

function missingNames(minted: MintedToken, names: readonly string[]): readonly string[] {
  return names.filter(name => !minted.repositories.some(({ fullName }) => sameName(fullName, name)))
}

function sameName(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase()
}

function clientOf({ log, clock, fetch }: ProbeDeps, { endpoints }: GitHubApp, { token }: MintedToken): RepositoryClient {
  return createRepositoryClient({ endpoints, token, log, clock, ...defined({ fetch }) })
}

async function accessOf(
  client: RepositoryClient,
  repositories: readonly Repository[],
  requesterId: number | undefined,
): Promise<RequesterAccess> {
  const person = requesterId === undefined ? undefined : await client.userById(requesterId)
  if (person === undefined) return { kind: 'unknown' }
  const found = new Map<number, RepositoryPermission>()
  for (const { id } of repositories) {
    const { permission, userId } = await client.collaboratorPermission(id, person.login)
    // A login that passed to another account in between is another person.
    found.set(id, userId === requesterId ? permission : 'none')
  }
  return { kind: 'known', login: person.login, permissions: found }
}

function platformRequest({ grant, installationId }: ProbeRequest): PlatformRequest {
  const { namespace = '', name } = grant.metadata
  return {
    actor: 'sekisho:repository-grant-controller',
    namespace,
    object: `RepositoryGrant/${namespace}/${name}`,
    reason: 'which repositories do the names mean, and what access does the requester have to them',
    installationId,
    permissions,
    details: {
      ...defined({ grantUid: grant.metadata.uid, generation: grant.metadata.generation }),
      person: grant.spec.requestedBy,
      repositories: [...grant.spec.repositories],
    },
  }
}
