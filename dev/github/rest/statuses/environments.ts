// The environments that deployments have. Deleting one leaves its deployments.
// https://docs.github.com/en/rest/deployments/environments#delete-an-environment
import type { GitHubState } from '../../state/github-state.ts'
import type { DeploymentEnvironment } from '../../state/repositories.ts'
import { noContent, notFound } from '../protocol/answer.ts'
import { type RepositoryCall, type RestRoute, repositoryRoute } from '../route.ts'

function isSame(one: DeploymentEnvironment, other: DeploymentEnvironment): boolean {
  return one.repositoryId === other.repositoryId && one.name === other.name
}

/** The environment of a new deployment; there is one of each name. */
export function keepEnvironment(state: GitHubState, environment: DeploymentEnvironment): void {
  if (!state.environments.some(one => isSame(one, environment))) state.environments.push(environment)
}

function remove({ context, repository, params }: RepositoryCall) {
  const named = { repositoryId: repository.id, name: params['environment_name'] ?? '' }
  if (!context.state.environments.some(one => isSame(one, named))) throw notFound()
  context.store.change(state => {
    state.environments = state.environments.filter(one => !isSame(one, named))
  })
  return noContent
}

export const environmentRoutes: readonly RestRoute[] = [
  repositoryRoute(
    { permission: 'administration', level: 'write' },
    { method: 'DELETE', path: '/repos/{owner}/{repo}/environments/{environment_name}', handle: remove },
  ),
]
