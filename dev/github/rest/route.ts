// The declaration of a REST route: its path in OpenAPI notation, who may call it, and the handler. The builders put the access
// check in front of the handler, so that no handler runs for a caller who may not see its subject.
import { type Actor, actingUserId, atLeast, canSee, mayUse, permissionOnOrganization } from '../state/access.ts'
import type { Organization, User } from '../state/accounts.ts'
import type { App, Installation, PermissionLevel } from '../state/apps.ts'
import type { InstallationToken } from '../state/credentials.ts'
import {
  organizationById,
  organizationByLogin,
  repositoryByFormerName,
  repositoryById,
  repositoryByName,
  userOf,
} from '../state/github-state.ts'
import type { Repository } from '../state/repositories.ts'
import type { RestContext } from './context.ts'
import { moved, notAccessible, notFound, type RestAnswer, RestError, requiresAuthentication } from './protocol/answer.ts'
import type { Paging } from './protocol/page.ts'
import type { Bucket } from './protocol/rate-limit.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export type RestCall = {
  readonly context: RestContext
  readonly actor: Actor
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: unknown
  readonly paging: Paging
  /** The caller's hourly limit, with this request counted. */
  readonly rateLimit: Bucket
}

export type RestRoute = {
  readonly method: Method
  /** OpenAPI notation: `/repos/{owner}/{repo}`. */
  readonly path: string
  /**
   * The same route by the numeric id of the repository, or of organization and team, which GitHub uses in redirects and links.
   */
  readonly byId?: string
  /** The last parameter may contain slashes. */
  readonly greedy?: boolean
  /** What a caller needs: a kind of credential, or permissions as `name=level`, alternatives separated by `; `. */
  readonly needs: string
  readonly handle: (call: RestCall) => RestAnswer | Promise<RestAnswer>
}

type Answer = RestAnswer | Promise<RestAnswer>
type Declaration<Call> = Pick<RestRoute, 'method' | 'path' | 'greedy'> & {
  readonly handle: (call: Call) => Answer
}

export type AppCall = RestCall & { readonly app: App }
export type InstallationCall = AppCall & { readonly installation: Installation; readonly token: InstallationToken }
export type UserCall = RestCall & { readonly user: User; readonly app: App | undefined }
export type RepositoryCall = RestCall & { readonly repository: Repository }
export type OrganizationCall = RestCall & { readonly organization: Organization }

/** For every caller, also without credentials. */
export function publicRoute(declaration: Declaration<RestCall>): RestRoute {
  return { ...declaration, needs: 'nothing' }
}

/** Only for an App with its JSON web token. */
export function appRoute(declaration: Declaration<AppCall>): RestRoute {
  return {
    ...declaration,
    needs: 'App JWT',
    handle: call => {
      if (call.actor.kind !== 'app') throw new RestError(401, 'A JSON web token could not be decoded')
      return declaration.handle({ ...call, app: call.actor.app })
    },
  }
}

/** Only for an installation access token. */
export function installationRoute(declaration: Declaration<InstallationCall>): RestRoute {
  return {
    ...declaration,
    needs: 'installation token',
    handle: call => {
      const { actor } = call
      if (actor.kind === 'anonymous') throw requiresAuthentication()
      if (actor.kind !== 'installation')
        throw new RestError(403, 'You must authenticate with an installation access token for this resource.')
      return declaration.handle({ ...call, app: actor.app, installation: actor.installation, token: actor.token })
    },
  }
}

/** Only for a person, with a user token of an App or a personal token. */
export function userRoute(declaration: Declaration<UserCall>): RestRoute {
  return {
    ...declaration,
    needs: 'user token',
    handle: call => {
      const { actor } = call
      switch (actor.kind) {
        case 'anonymous':
          throw requiresAuthentication()
        case 'app':
          throw new RestError(401, 'A JSON web token is only accepted for the App itself')
        case 'installation':
          throw notAccessible()
        case 'user':
          return declaration.handle({ ...call, user: actor.user, app: actor.app })
        case 'person':
          return declaration.handle({ ...call, user: actor.user, app: undefined })
      }
    },
  }
}

function refuseJwt(actor: Actor): void {
  if (actor.kind === 'app') throw new RestError(401, 'A JSON web token is only accepted for the App itself')
}

function refuseUnseen(actor: Actor): RestError {
  return actor.kind === 'anonymous' ? notFound() : notAccessible()
}

const byName = '/repos/{owner}/{repo}'

/** The URL of this call with the repository by its id. */
function addressById({ context, paging }: RestCall, repository: Repository): string {
  return context.links.api(
    paging.url.slice(context.links.apiUrl.length).replace(/^\/repos\/[^/]+\/[^/]+/, `/repositories/${repository.id}`),
  )
}

/** The present URL of the request when it uses a former name of a repository. */
function movedTo(call: RestCall, method: Method, repository: Repository): RestError {
  const { query } = call.paging
  const address = addressById(call, repository)
  return moved(method === 'GET' ? 301 : 307, query.size === 0 ? address : `${address}?${query.toString()}`)
}

function repositoryOf(call: RestCall, method: Method): Repository {
  const { params, context } = call
  const id = params['repository_id']
  const found =
    id === undefined
      ? repositoryByName(context.state, params['owner'] ?? '', params['repo'] ?? '')
      : /^\d{1,15}$/.test(id)
        ? repositoryById(context.state, Number(id))
        : undefined
  if (found && canSee(context.state, call.actor, found)) return found
  const former =
    found || id !== undefined ? undefined : repositoryByFormerName(context.state, params['owner'] ?? '', params['repo'] ?? '')
  if (former && canSee(context.state, call.actor, former)) throw movedTo(call, method, former)
  throw notFound()
}

/**
 * Requires a repository and one of the named permissions at `level`. A caller who cannot see the repository gets 404; one who
 * sees it but does not have the permission gets 403. Writing always needs credentials. A former name is redirected to the URL
 * by id.
 */
export function repositoryRoute(
  needed: {
    readonly permission: string | readonly string[]
    readonly level: Exclude<PermissionLevel, 'none'>
    /** Allowed on an archived repository too. */
    readonly whenArchived?: boolean
  },
  declaration: Declaration<RepositoryCall>,
): RestRoute {
  const names = typeof needed.permission === 'string' ? [needed.permission] : needed.permission
  return {
    ...declaration,
    ...(declaration.path.startsWith(byName) ? { byId: declaration.path.replace(byName, '/repositories/{repository_id}') } : {}),
    needs: names.map(name => `${name}=${needed.level}`).join('; '),
    handle: call => {
      refuseJwt(call.actor)
      const repository = repositoryOf(call, declaration.method)
      if (call.actor.kind === 'anonymous' && needed.level !== 'read') throw requiresAuthentication()
      const { state } = call.context
      if (!names.some(permission => mayUse(state, call.actor, repository, { permission, level: needed.level })))
        throw refuseUnseen(call.actor)
      if (repository.archived && needed.level !== 'read' && !needed.whenArchived)
        throw new RestError(403, 'Repository was archived so is read-only.')
      // Pages are linked by id, as on GitHub: the links outlive a rename.
      return declaration.handle({ ...call, repository, paging: { ...call.paging, url: addressById(call, repository) } })
    },
  }
}

function organizationOf({ params, context }: RestCall): Organization | undefined {
  const id = params['organization_id']
  if (id === undefined) return organizationByLogin(context.state, params['org'] ?? '')
  return /^\d{1,15}$/.test(id) ? organizationById(context.state, Number(id)) : undefined
}

const teamByName = '/orgs/{org}/teams/{team_slug}'

/**
 * Requires an organization and, unless `needed` is undefined, an organization permission. Organizations themselves are public.
 */
export function organizationRoute(
  needed: { readonly permission: string; readonly level: Exclude<PermissionLevel, 'none'> } | undefined,
  declaration: Declaration<OrganizationCall>,
): RestRoute {
  const byId = declaration.path.replace(teamByName, '/organizations/{organization_id}/team/{team_id}')
  return {
    ...declaration,
    ...(byId === declaration.path ? {} : { byId }),
    needs: needed === undefined ? 'nothing' : `${needed.permission}=${needed.level}`,
    handle: call => {
      refuseJwt(call.actor)
      const found = organizationOf(call)
      const { context } = call
      if (!found) throw notFound()
      if (needed !== undefined) {
        if (call.actor.kind === 'anonymous') throw requiresAuthentication()
        if (!atLeast(permissionOnOrganization(context.state, call.actor, found, needed.permission), needed.level))
          throw notAccessible()
      }
      return declaration.handle({ ...call, organization: found })
    },
  }
}

/** The account that the call writes as. */
export function writerOf({ actor, context }: Pick<RestCall, 'actor' | 'context'>): User {
  const id = actingUserId(actor)
  if (id === undefined) throw requiresAuthentication()
  return userOf(context.state, id)
}

/** The call as an action in its repository or organization, with the caller as its sender. */
export function actionOf<Call extends Pick<RestCall, 'actor' | 'context'>>(call: Call): Call & { readonly sender: User } {
  return { ...call, sender: writerOf(call) }
}
