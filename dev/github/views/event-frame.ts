// The fields that all webhook payloads about a repository share.
import type { User } from '../state/accounts.ts'
import { organizationById } from '../state/github-state.ts'
import type { Repository } from '../state/repositories.ts'
import { simpleOrganization, simpleUser } from './account.ts'
import { repositoryView } from './repository.ts'
import type { View } from './view.ts'

/** The repository, its organization and the sender of an event. */
export function eventFrame(context: View, repository: Repository, sender: User) {
  const organization = organizationById(context.state, repository.ownerId)
  return {
    repository: repositoryView(context, repository),
    ...(organization ? { organization: simpleOrganization(context, organization) } : {}),
    sender: simpleUser(context, sender),
  }
}
