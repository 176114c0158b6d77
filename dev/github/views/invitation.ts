// Owns: how an invitation to a repository looks in JSON. Pure.
import type { Context } from '../context.ts'
import { nodeId } from '../links.ts'
import type { RepositoryInvitation } from '../state/repositories.ts'
import { fullName, repositoryById, userOf } from '../state/world.ts'
import { simpleUser } from './account.ts'
import { minimalRepository } from './repository.ts'

/** OpenAPI `repository-invitation`. */
export const invitationView = ({ links, world }: Pick<Context, 'links' | 'world'>, invitation: RepositoryInvitation) => {
  const repository = repositoryById(world, invitation.repositoryId)
  if (!repository)
    throw new Error(`invitation ${invitation.id} belongs to repository ${invitation.repositoryId}, which does not exist`)
  return {
    id: invitation.id,
    node_id: nodeId('RepositoryInvitation', invitation.id),
    repository: minimalRepository({ links, world }, repository),
    invitee: simpleUser({ links }, userOf(world, invitation.inviteeId)),
    inviter: simpleUser({ links }, userOf(world, invitation.inviterId)),
    permissions: invitation.role,
    created_at: invitation.createdAt,
    expired: false,
    url: links.api(`/user/repository_invitations/${invitation.id}`),
    html_url: links.web(`/${fullName(world, repository)}/invitations`),
  }
}
