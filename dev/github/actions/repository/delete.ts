// Deletes a repository and everything that belongs to it, in the state and on disk. Forks stay.
import type { GitHubState } from '../../state/github-state.ts'
import type { RepositoryAction } from '../context.ts'
import { emitRepository } from './event.ts'
import { changeInstallations, installationsWith } from './installation-access.ts'

function forget(state: GitHubState, id: number): void {
  const elsewhere = (one: { readonly repositoryId: number }): boolean => one.repositoryId !== id
  const gone = new Set(state.deployments.filter(one => one.repositoryId === id).map(one => one.id))
  state.repositories = state.repositories.filter(one => one.id !== id)
  state.repositoryRedirects = state.repositoryRedirects.filter(elsewhere)
  state.pullRequests = state.pullRequests.filter(elsewhere)
  state.comments = state.comments.filter(elsewhere)
  state.labels = state.labels.filter(elsewhere)
  state.reviews = state.reviews.filter(elsewhere)
  state.statuses = state.statuses.filter(elsewhere)
  state.deployments = state.deployments.filter(elsewhere)
  state.deploymentStatuses = state.deploymentStatuses.filter(one => !gone.has(one.deploymentId))
  state.environments = state.environments.filter(elsewhere)
  for (const team of state.teams) team.repositories = team.repositories.filter(elsewhere)
}

/** Deletes the repository; its name is free at once. */
export async function deleteRepository(action: RepositoryAction): Promise<void> {
  const { context, repository } = action
  emitRepository(action, 'deleted')
  changeInstallations(action, installationsWith(context, repository), [])
  context.store.change(state => forget(state, repository.id))
  await context.git.remove(repository.id)
}
