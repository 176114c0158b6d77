// Deletes a repository and everything that belongs to it, in the state and on disk. Forks stay.
import type { World } from '../../state/world.ts'
import type { RepositoryAction } from '../context.ts'
import { emitRepository } from './event.ts'
import { changeInstallations, installationsWith } from './installation-access.ts'

function forget(world: World, id: number): void {
  const elsewhere = (one: { readonly repositoryId: number }): boolean => one.repositoryId !== id
  const gone = new Set(world.deployments.filter(one => one.repositoryId === id).map(one => one.id))
  world.repositories = world.repositories.filter(one => one.id !== id)
  world.repositoryRedirects = world.repositoryRedirects.filter(elsewhere)
  world.pullRequests = world.pullRequests.filter(elsewhere)
  world.comments = world.comments.filter(elsewhere)
  world.statuses = world.statuses.filter(elsewhere)
  world.deployments = world.deployments.filter(elsewhere)
  world.deploymentStatuses = world.deploymentStatuses.filter(one => !gone.has(one.deploymentId))
  world.checkSuites = world.checkSuites.filter(elsewhere)
  world.checkRuns = world.checkRuns.filter(elsewhere)
  for (const team of world.teams) team.repositories = team.repositories.filter(elsewhere)
}

/** Deletes the repository; its name is free at once. */
export async function deleteRepository(action: RepositoryAction): Promise<void> {
  const { context, repository } = action
  emitRepository(action, 'deleted')
  changeInstallations(action, installationsWith(context, repository), [])
  context.store.change(world => forget(world, repository.id))
  await context.git.remove(repository.id)
}
