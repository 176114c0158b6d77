// The routes about the people with access to a repository and their permission.
// https://docs.github.com/en/rest/collaborators/collaborators
import { addCollaborator, removeCollaborator } from '../../actions/people/collaborators.ts'
import { type Actor, membershipOf, repositoryRole } from '../../state/access.ts'
import type { RepositoryRole, User } from '../../state/accounts.ts'
import { organizationById, userByLogin } from '../../state/github-state.ts'
import { simpleUser } from '../../views/account.ts'
import { permissionFlags } from '../../views/repository.ts'
import { olderWord, roleOfWord } from '../../views/role.ts'
import { invalidField, noContent, notFound, ok, type RestAnswer } from '../protocol/answer.ts'
import { fieldsOf } from '../protocol/body.ts'
import { paged } from '../protocol/page.ts'
import { actionOf, type RepositoryCall, type RestRoute, repositoryRoute } from '../route.ts'

function personOf({ context, params }: RepositoryCall): User {
  const user = userByLogin(context.state, params['username'] ?? '')
  if (user?.type !== 'User') throw notFound()
  return user
}

function collaboratorView({ context, repository }: RepositoryCall, user: User, role: RepositoryRole) {
  const asPerson: Actor = { kind: 'person', user }
  return {
    ...simpleUser(context, user),
    permissions: permissionFlags(context.state, asPerson, repository),
    role_name: role,
  }
}

function permission(call: RepositoryCall): RestAnswer {
  const user = personOf(call)
  const own = repositoryRole(call.context.state, user.id, call.repository)
  const role = own === 'none' && !call.repository.private ? 'read' : own
  return ok({ permission: olderWord(role), role_name: role, user: collaboratorView(call, user, role) })
}

/** `outside`: not a member of the organization; `direct`: a collaborator of the repository; `all`: everyone with a role. */
function list(call: RepositoryCall): RestAnswer {
  const { context, repository, query } = call
  const { state } = context
  const affiliation = query.get('affiliation') ?? 'all'
  const direct = (user: User): boolean => repository.collaborators.some(one => one.userId === user.id)
  const organization = organizationById(state, repository.ownerId)
  const inside = (user: User): boolean =>
    organization ? membershipOf(organization, user.id)?.state === 'active' : repository.ownerId === user.id
  const people = state.users
    .filter(user => user.type === 'User')
    .filter(user => affiliation === 'all' || (direct(user) && (affiliation !== 'outside' || !inside(user))))
    .map(user => ({ user, role: repositoryRole(state, user.id, repository) }))
    .filter(one => one.role !== 'none')
  return paged(call.paging, people, one => collaboratorView(call, one.user, one.role))
}

function add(call: RepositoryCall): RestAnswer {
  const word = fieldsOf(call.body, 'RepositoryInvitation').optionalText('permission', 20) ?? 'push'
  const role = roleOfWord[word]
  if (role === undefined) throw invalidField('RepositoryInvitation', 'permission', 'invalid')
  addCollaborator(actionOf(call), personOf(call), role)
  return noContent
}

function remove(call: RepositoryCall): RestAnswer {
  removeCollaborator(actionOf(call), personOf(call))
  return noContent
}

const seeing = { permission: 'metadata', level: 'read' } as const
const writing = { permission: 'administration', level: 'write' } as const
const root = '/repos/{owner}/{repo}'
const person = `${root}/collaborators/{username}`

export const collaboratorRoutes: readonly RestRoute[] = [
  repositoryRoute(seeing, { method: 'GET', path: `${person}/permission`, handle: permission }),
  repositoryRoute(seeing, { method: 'GET', path: `${root}/collaborators`, handle: list }),
  repositoryRoute(writing, { method: 'PUT', path: person, handle: add }),
  repositoryRoute(writing, { method: 'DELETE', path: person, handle: remove }),
]
