// Names of repositories and what a client may ask of them: the scopes of the distribution token protocol. Pure. A name is
// accepted only in its canonical form (lower case, no empty part, no dots alone), so that comparing text compares repositories.
// Source: https://distribution.github.io/distribution/spec/auth/scope/,
// https://distribution.github.io/distribution/spec/api/#overview

export const repositoryActions = ['pull', 'push', 'delete'] as const
export type RepositoryAction = (typeof repositoryActions)[number]

/** One entry of a token's claim `access`. */
export type RepositoryAccess = {
  readonly type: 'repository'
  readonly name: string
  readonly actions: readonly RepositoryAction[]
}

/** More than any client of a build asks for; what is beyond is not granted. */
const maxScopes = 20
const maxScope = 400
const maxName = 255
const component = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/

/** True for a name in canonical form. Anything else, such as `acme/../globex`, is the name of no repository. */
export function isRepositoryName(name: string): boolean {
  return name.length <= maxName && name.split('/').every(part => component.test(part))
}

/** True for `path` itself and for what lies below it: `acme/shop` is below `acme`, `acme-inc/shop` is not. */
export function isBelow(name: string, path: string): boolean {
  return name === path || name.startsWith(`${path}/`)
}

function isAction(text: string): text is RepositoryAction {
  return repositoryActions.some(action => action === text)
}

/**
 * One scope, `repository:<name>:<action>[,<action>]`; undefined for other types (such as the catalog), unknown actions alone,
 * and names that do not exist.
 */
function parseScope(scope: string): RepositoryAccess | undefined {
  const [type, name, actions, ...rest] = scope.split(':')
  if (scope.length > maxScope || type !== 'repository' || rest.length > 0) return undefined
  if (name === undefined || actions === undefined || !isRepositoryName(name)) return undefined
  const known = [...new Set(actions.split(','))].filter(isAction)
  return known.length === 0 ? undefined : { type, name, actions: known }
}

/** What is asked for, from all `scope` parameters of a request; each of them may hold several scopes, separated by spaces. */
export function parseScopes(parameters: readonly string[]): readonly RepositoryAccess[] {
  return parameters
    .flatMap(parameter => parameter.split(' '))
    .filter(scope => scope !== '')
    .slice(0, maxScopes)
    .flatMap(scope => parseScope(scope) ?? [])
}
