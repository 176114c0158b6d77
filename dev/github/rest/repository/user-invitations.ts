// Owns: the routes by which a person answers invitations to repositories. https://docs.github.com/en/rest/collaborators/invitations
import { addCollaborator, dropInvitation } from '../../actions/people/collaborators.ts'
import type { RepositoryInvitation } from '../../state/repositories.ts'
import { repositoryById, userOf } from '../../state/world.ts'
import { invitationView } from '../../views/invitation.ts'
import { noContent, notFound } from '../protocol/answer.ts'
import { paged } from '../protocol/page.ts'
import { type RestRoute, type UserCall, userRoute } from '../route.ts'

const mine = ({ context, user }: UserCall): readonly RepositoryInvitation[] =>
  context.world.repositoryInvitations.filter(one => one.inviteeId === user.id)

const invitationOf = (call: UserCall): RepositoryInvitation => {
  const found = mine(call).find(one => String(one.id) === call.params['invitation_id'])
  if (!found) throw notFound()
  return found
}

const accept = (call: UserCall) => {
  const { context, user } = call
  const invitation = invitationOf(call)
  const repository = repositoryById(context.world, invitation.repositoryId)
  if (!repository) throw notFound()
  dropInvitation(context, invitation)
  addCollaborator(context, repository, user, invitation.role, userOf(context.world, invitation.inviterId))
  return noContent
}

const root = '/user/repository_invitations'

export const userInvitationRoutes: readonly RestRoute[] = [
  userRoute({
    method: 'GET',
    path: root,
    handle: call => paged(call.paging, mine(call), one => invitationView(call.context, one)),
  }),
  userRoute({ method: 'PATCH', path: `${root}/{invitation_id}`, handle: accept }),
  userRoute({
    method: 'DELETE',
    path: `${root}/{invitation_id}`,
    handle: call => {
      dropInvitation(call.context, invitationOf(call))
      return noContent
    },
  }),
]
