import { createRepository } from '../../actions/create-repository.ts'
import type { Account } from '../../state/accounts.ts'
import { fullRepository } from '../../views/repository.ts'
import { created, notAccessible, ok, type RestAnswer } from '../protocol/answer.ts'
import { fieldsOf } from '../protocol/body.ts'
import {
  organizationRoute,
  type RepositoryCall,
  type RestCall,
  type RestRoute,
  repositoryRoute,
  userRoute,
  writerOf,
} from '../route.ts'

function show(call: RepositoryCall): RestAnswer {
  return ok({ ...fullRepository(call.context, call.actor, call.repository), temp_clone_token: null })
}

async function create(call: RestCall, owner: Account) {
  const fields = fieldsOf(call.body, 'Repository')
  const repository = await createRepository(call.context, owner, writerOf(call), {
    name: fields.text('name', 100),
    description: fields.optionalText('description', 350) ?? null,
    private: fields.optionalBoolean('private') ?? false,
    withReadme: fields.optionalBoolean('auto_init') ?? false,
  })
  const view = fullRepository(call.context, call.actor, repository)
  return created(view, { location: view.url })
}

export const repositoryRoutes: readonly RestRoute[] = [
  repositoryRoute({ permission: 'metadata', level: 'read' }, { method: 'GET', path: '/repos/{owner}/{repo}', handle: show }),
  // An App cannot create repositories for a person; only personal tokens can.
  userRoute({
    method: 'POST',
    path: '/user/repos',
    handle: call => {
      if (call.app) throw notAccessible()
      return create(call, call.user)
    },
  }),
  organizationRoute(
    { permission: 'administration', level: 'write' },
    { method: 'POST', path: '/orgs/{org}/repos', handle: call => create(call, call.organization) },
  ),
]
