// Installations that gain or lose a repository because it moved or was deleted.
import { installationSelects } from '../../state/access.ts'
import type { Installation } from '../../state/apps.ts'
import { timestamp } from '../../state/clock.ts'
import type { Repository } from '../../state/repositories.ts'
import type { ActionContext, RepositoryAction } from '../context.ts'
import { emitRepositoriesChanged } from '../install-app.ts'

/** Installations that have the repository. */
export function installationsWith({ state }: ActionContext, repository: Repository): readonly Installation[] {
  return state.installations.filter(one => installationSelects(one, repository))
}

/** Removes the repository from the lists of installations that lost it, and notifies those that lost and those that gained it. */
export function changeInstallations(
  { context, repository, sender }: RepositoryAction,
  before: readonly Installation[],
  after: readonly Installation[],
): void {
  const repositories = [repository]
  for (const installation of before.filter(one => !after.includes(one))) {
    context.store.change(() => {
      installation.repositoryIds = installation.repositoryIds.filter(id => id !== repository.id)
      installation.updatedAt = timestamp(context.now())
    })
    emitRepositoriesChanged(context, installation, { action: 'removed', repositories }, sender.id)
  }
  for (const installation of after.filter(one => !before.includes(one))) {
    emitRepositoriesChanged(context, installation, { action: 'added', repositories }, sender.id)
  }
}
