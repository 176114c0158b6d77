// Owns: telling installations that a repository came into or left their reach because it moved or went away.
import { installationSelects } from '../../state/access.ts'
import type { Installation } from '../../state/apps.ts'
import { timestamp } from '../../state/clock.ts'
import type { Repository } from '../../state/repositories.ts'
import type { ActionContext } from '../context.ts'
import { tellRepositoriesChanged } from '../install-app.ts'

/** Installations that were given the repository. */
export function installationsWith({ world }: ActionContext, repository: Repository): readonly Installation[] {
  return world.installations.filter(one => installationSelects(one, repository))
}

/** Takes the repository out of the lists of installations that no longer have it, and tells both those and the new ones. */
export function settleReach(
  context: ActionContext,
  repository: Repository,
  before: readonly Installation[],
  after: readonly Installation[],
  senderId: number,
): void {
  for (const installation of before.filter(one => !after.includes(one))) {
    context.store.change(() => {
      installation.repositoryIds = installation.repositoryIds.filter(id => id !== repository.id)
      installation.updatedAt = timestamp(context.now())
    })
    tellRepositoriesChanged(context, installation, 'removed', [repository], senderId)
  }
  for (const installation of after.filter(one => !before.includes(one))) {
    tellRepositoriesChanged(context, installation, 'added', [repository], senderId)
  }
}
