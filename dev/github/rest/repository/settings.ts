// The routes that change, move, fork and delete a repository. https://docs.github.com/en/rest/repos/repos
import { changeRepository } from '../../actions/repository/change.ts'
import { deleteRepository } from '../../actions/repository/delete.ts'
import { forkRepository } from '../../actions/repository/fork.ts'
import { transferRepository } from '../../actions/repository/transfer.ts'
import { administers, permissionOn } from '../../state/access.ts'
import type { Account } from '../../state/accounts.ts'
import { accountByLogin, organizationByLogin } from '../../state/github-state.ts'
import { fullRepository, minimalRepository } from '../../views/repository.ts'
import { accepted, invalidField, noContent, notAccessible, ok, type RestAnswer, RestError } from '../protocol/answer.ts'
import { fieldsOf } from '../protocol/body.ts'
import { actionOf, type RepositoryCall, type RestRoute, repositoryRoute, writerOf } from '../route.ts'

async function update(call: RepositoryCall): Promise<RestAnswer> {
  const fields = fieldsOf(call.body, 'Repository')
  const visibility = fields.optionalOneOf('visibility', ['public', 'private', 'internal'] as const)
  await changeRepository(actionOf(call), {
    name: fields.optionalText('name', 100),
    description: fields.optionalText('description', 350),
    private: visibility === undefined ? fields.optionalBoolean('private') : visibility !== 'public',
    archived: fields.optionalBoolean('archived'),
    defaultBranch: fields.optionalText('default_branch', 255),
  })
  return ok(fullRepository(call.context, call.actor, call.repository))
}

function transfer(call: RepositoryCall): RestAnswer {
  const fields = fieldsOf(call.body, 'Repository')
  const newOwner = accountByLogin(call.context.state, fields.text('new_owner', 100))
  if (!newOwner) throw invalidField('Repository', 'new_owner', 'invalid')
  transferRepository(actionOf(call), {
    newOwner,
    newName: fields.optionalText('new_name', 100),
    teamIds: fields.optionalNumbers('team_ids', 100) ?? [],
  })
  return accepted(minimalRepository(call.context, call.repository))
}

/**
 * The account that receives a fork: the person, or an organization that they administer. An App forks into the organization of
 * its installation; it cannot create a repository for a person.
 */
function receiverOf(call: RepositoryCall, login: string | undefined): Account {
  const { actor, context } = call
  if (actor.kind === 'user') throw notAccessible()
  if (login === undefined) {
    if (actor.kind !== 'person') throw notAccessible()
    return actor.user
  }
  const organization = organizationByLogin(context.state, login)
  if (!organization) throw invalidField('Fork', 'organization', 'invalid')
  const allowed =
    actor.kind === 'installation'
      ? actor.installation.accountId === organization.id &&
        permissionOn(context.state, actor, call.repository, 'administration') === 'write'
      : administers(context.state, writerOf(call).id, organization.id)
  if (!allowed) throw new RestError(403, `You do not have permission to create repositories on ${organization.login}`)
  return organization
}

async function fork(call: RepositoryCall): Promise<RestAnswer> {
  const fields = fieldsOf(call.body, 'Fork')
  const made = await forkRepository(actionOf(call), {
    owner: receiverOf(call, fields.optionalText('organization', 100)),
    name: fields.optionalText('name', 100),
    defaultBranchOnly: fields.optionalBoolean('default_branch_only') ?? false,
  })
  return accepted(fullRepository(call.context, call.actor, made))
}

const administration = { permission: 'administration', level: 'write', whenArchived: true } as const
const root = '/repos/{owner}/{repo}'

export const repositorySettingRoutes: readonly RestRoute[] = [
  repositoryRoute(administration, { method: 'PATCH', path: root, handle: update }),
  repositoryRoute(administration, {
    method: 'DELETE',
    path: root,
    handle: async call => {
      await deleteRepository(actionOf(call))
      return noContent
    },
  }),
  repositoryRoute(administration, { method: 'POST', path: `${root}/transfer`, handle: transfer }),
  repositoryRoute(
    { permission: 'contents', level: 'read' },
    {
      method: 'POST',
      path: `${root}/forks`,
      handle: fork,
    },
  ),
]
