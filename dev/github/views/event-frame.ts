// Owns: the parts that every webhook payload about a repository shares. Pure.
import type { User } from '../state/accounts.ts'
import type { Repository } from '../state/repositories.ts'
import { organizationById } from '../state/world.ts'
import { simpleOrganization, simpleUser } from './account.ts'
import { repositoryView } from './repository.ts'
import type { View } from './view.ts'

/** Where it happened and who did it. */
export function eventFrame(context: View, repository: Repository, sender: User) {
  const organization = organizationById(context.world, repository.ownerId)
  return {
    repository: repositoryView(context, repository),
    ...(organization ? { organization: simpleOrganization(context, organization) } : {}),
    sender: simpleUser(context, sender),
  }
}
