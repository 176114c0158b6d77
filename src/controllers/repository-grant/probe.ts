// Asks GitHub, as the App, which repositories the names of a grant mean and what access its requester has to them. The token
// can read metadata of those repositories and nothing else, is audited before it exists, never leaves this file and is revoked
// after use. Writes nothing except to the audit log.
import type { Visibility } from '../../api/github/grant-policy.ts'
import type { RepositoryGrant } from '../../api/github/repository-grant.ts'
import {
  createRepositoryClient,
  type Fetch,
  githubReasons,
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
  /** A ServiceAccount, which is nobody on GitHub: the roles of those who approved, by repository id. */
  | { readonly kind: 'nobody'; readonly approvers: ReadonlyMap<number, readonly RepositoryPermission[]> }
  /** The person's role, by repository id. */
  | { readonly kind: 'known'; readonly login: string; readonly permissions: ReadonlyMap<number, RepositoryPermission> }

/**
 * `found` contains every repository of the grant once, in its order. Before the first approval `missing` names those that the
 * installation does not reach; later it means that it reaches none of them, and `found` says which it does not.
 */
export type ProbeAnswer =
  | {
      readonly kind: 'found'
      readonly repositories: readonly Repository[]
      /** The ids of those that the installation does not reach any more. */
      readonly missing: readonly number[]
      /** The ids of those that are archived. */
      readonly archived: readonly number[]
      /** By id, where GitHub says it. */
      readonly visibility?: ReadonlyMap<number, Visibility>
      readonly requester: RequesterAccess
    }
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
  /** The ids of those that it did not reach the last time: they are asked for apart from the others. */
  readonly lost: readonly number[]
  readonly requesterId: number | undefined
  /** Of a ServiceAccount's request: those who approved, whose access counts in place of the requester's. */
  readonly approverIds?: readonly number[] | undefined
}

/** Whose access counts for a ServiceAccount's request: each costs a request to GitHub for each repository. */
export const maxApprovers = 5

const permissions = { metadata: 'read' } as const

/**
 * Tokens that one probe may cost: GitHub refuses a token for all when it does not reach one, and does not say which. What is not
 * found apart by then counts as not reached, and is asked for again at the next check.
 */
const maxTokens = 24

/** All repositories of which an approved grant knows the id, each once; undefined before the first approval. */
export function knownRepositories(status: RepositoryGrant['status']): readonly Repository[] | undefined {
  if (status?.repositories === undefined) return undefined
  const all = [...status.repositories, ...(status.endedRepositories ?? [])].map(({ id, name }) => ({ id, name }))
  return [...new Map(all.map(one => [one.id, one])).values()]
}

/**
 * @throws AppError when nothing could be learned: GitHub or the audit log failed, or the token has more access than was
 * requested
 */
export async function probe(deps: ProbeDeps, app: GitHubApp, request: ProbeRequest): Promise<ProbeAnswer> {
  const { grant, known, lost } = request
  if (known === undefined) {
    const part = await ask(deps, app, request, undefined)
    if (typeof part === 'string') return { kind: 'missing', names: grant.spec.repositories }
    const repositories = matched(part.minted, grant)
    if (repositories === undefined) return { kind: 'missing', names: missingNames(part.minted, grant.spec.repositories) }
    return {
      kind: 'found',
      repositories,
      missing: [],
      archived: archivedOf(part.minted),
      visibility: visibilityOf([part]),
      requester: part.requester,
    }
  }
  const parts = await askApart(deps, app, request, [
    known.filter(({ id }) => !lost.includes(id)),
    known.filter(({ id }) => lost.includes(id)),
  ])
  const [first] = parts
  if (first === undefined) return { kind: 'missing', names: known.map(({ name }) => name) }
  const names = new Map(parts.flatMap(({ minted }) => minted.repositories.map(({ id, fullName }) => [id, fullName])))
  return {
    kind: 'found',
    repositories: known.map(({ id, name }) => ({ id, name: names.get(id) ?? name })),
    missing: known.flatMap(({ id }) => (names.has(id) ? [] : [id])),
    archived: parts.flatMap(({ minted }) => archivedOf(minted)),
    visibility: visibilityOf(parts),
    requester: parts.map(({ requester }) => requester).reduce(together, first.requester),
  }
}

/** What one token found out. */
type Part = { readonly minted: MintedToken; readonly requester: RequesterAccess }
/** GitHub does not reach one of the repositories, or none. */
type Refused = 'one' | 'all'

/** Halves what GitHub refuses, until it is known which repositories it does not reach. */
async function askApart(
  deps: ProbeDeps,
  app: GitHubApp,
  request: ProbeRequest,
  groups: readonly (readonly Repository[])[],
): Promise<readonly Part[]> {
  const open = groups.filter(({ length }) => length > 0)
  const parts: Part[] = []
  for (let tokens = 0; tokens < maxTokens; tokens++) {
    const group = open.shift()
    if (group === undefined) break
    const part = await ask(deps, app, request, group)
    if (typeof part !== 'string') parts.push(part)
    else if (part === 'one' && group.length > 1) {
      const half = Math.ceil(group.length / 2)
      open.push(group.slice(0, half), group.slice(half))
    }
  }
  return parts
}

/** With one token for these repositories; without `group` for those that the names of the grant mean. */
async function ask(
  deps: ProbeDeps,
  app: GitHubApp,
  request: ProbeRequest,
  group: readonly Repository[] | undefined,
): Promise<Part | Refused> {
  let refused: Refused = 'all'
  const mint = async (): Promise<MintedToken | undefined> => {
    try {
      return await app.client.mint({ installationId: request.installationId, permissions, ...reachOf(request, group) })
    } catch (error) {
      if (!isAppError(error, 'not_found')) throw error
      if (error.reason === githubReasons.repositoryNotAccessible) refused = 'one'
      return undefined
    }
  }
  const use = async (minted: MintedToken): Promise<Part> => {
    requireNoMore(minted, group)
    const asked = group ?? matched(minted, request.grant) ?? []
    const reached = asked.filter(({ id }) => minted.repositoryIds.includes(id))
    return { minted, requester: await accessOf(clientOf(deps, app, minted), reached, request) }
  }
  return (await withSingleUseToken(deps, app, { request: platformRequest(request), mint, use })) ?? refused
}

function reachOf({ grant }: ProbeRequest, group: readonly Repository[] | undefined) {
  if (group !== undefined) return { repositoryIds: [...new Set(group.map(({ id }) => id))] }
  return { repositoryNames: [...new Set(grant.spec.repositories.map(name => name.slice(name.indexOf('/') + 1)))] }
}

/** @throws AppError `integrity_violation` for a token that has more access than was requested */
function requireNoMore(minted: MintedToken, group: readonly Repository[] | undefined): void {
  if (Object.entries(minted.permissions).some(([name, level]) => name !== 'metadata' || level !== 'read'))
    throw new AppError('integrity_violation', "GitHub's token for the check has more permissions than metadata: read")
  const extra = group && minted.repositories.find(({ id }) => !group.some(one => one.id === id))
  if (extra !== undefined)
    throw new AppError(
      'integrity_violation',
      `GitHub's token for the check reaches ${extra.fullName} (id ${extra.id}), which was not requested`,
    )
}

/** What was found with several tokens about one person. */
function together(one: RequesterAccess, other: RequesterAccess): RequesterAccess {
  if (one.kind === 'unknown' || other.kind === 'unknown') return { kind: 'unknown' }
  if (one.kind === 'nobody' || other.kind === 'nobody')
    return {
      kind: 'nobody',
      approvers: new Map([one, other].flatMap(part => (part.kind === 'nobody' ? [...part.approvers] : []))),
    }
  return { ...one, permissions: new Map([...one.permissions, ...other.permissions]) }
}

function archivedOf({ repositories }: MintedToken): readonly number[] {
  return repositories.filter(({ archived }) => archived === true).map(({ id }) => id)
}

function visibilityOf(parts: readonly Part[]): ReadonlyMap<number, Visibility> {
  const repositories = parts.flatMap(({ minted }) => minted.repositories)
  return new Map(repositories.flatMap(({ id, visibility }) => (visibility === undefined ? [] : [[id, visibility]])))
}

/**
 * GitHub takes names without an owner, so the full names are compared here: case-insensitively, as GitHub does. Undefined when
 * one is missing.
 */
function matched({ repositories }: MintedToken, { spec }: RepositoryGrant): readonly Repository[] | undefined {
  const found = spec.repositories.map(name => repositories.find(({ fullName }) => sameName(fullName, name)))
  const all = found.flatMap(one => (one === undefined ? [] : [{ id: one.id, name: one.fullName }]))
  // Two names can mean one repository: the status holds each id once.
  return all.length < found.length ? undefined : [...new Map(all.map(one => [one.id, one])).values()]
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
  { requesterId, approverIds }: Pick<ProbeRequest, 'requesterId' | 'approverIds'>,
): Promise<RequesterAccess> {
  if (approverIds === undefined)
    return requesterId === undefined ? { kind: 'unknown' } : personAccess(client, repositories, requesterId)
  const people: RequesterAccess[] = []
  for (const id of approverIds.slice(0, maxApprovers)) people.push(await personAccess(client, repositories, id))
  const rolesOn = (id: number) => people.flatMap(one => (one.kind === 'known' ? (one.permissions.get(id) ?? []) : []))
  return { kind: 'nobody', approvers: new Map(repositories.map(({ id }) => [id, rolesOn(id)])) }
}

async function personAccess(
  client: RepositoryClient,
  repositories: readonly Repository[],
  personId: number,
): Promise<RequesterAccess> {
  const person = await client.userById(personId)
  if (person === undefined) return { kind: 'unknown' }
  const found = new Map<number, RepositoryPermission>()
  for (const { id } of repositories) {
    const { permission, userId } = await client.collaboratorPermission(id, person.login)
    // A login that passed to another account in between is another person.
    found.set(id, userId === personId ? permission : 'none')
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
