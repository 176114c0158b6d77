// Owns: the routes about environments, without protection rules. https://docs.github.com/en/rest/deployments/environments
import { deleteEnvironment, ensureEnvironment, environmentByName } from '../../actions/environments.ts'
import { timestamp } from '../../clock.ts'
import type { Environment } from '../../state/checks.ts'
import { environmentView } from '../../views/check.ts'
import { invalidField, noContent, notFound, ok, type RestAnswer } from '../protocol/answer.ts'
import { paged } from '../protocol/page.ts'
import { type RepositoryCall, type RestRoute, repositoryRoute } from '../route.ts'

const nameOf = ({ params }: RepositoryCall): string => params['environment_name'] ?? ''

const environmentOf = (call: RepositoryCall): Environment => {
  const found = environmentByName(call.context, call.repository, nameOf(call))
  if (!found) throw notFound()
  return found
}

const list = ({ context, repository, paging }: RepositoryCall): RestAnswer =>
  paged(
    paging,
    context.world.environments.filter(one => one.repositoryId === repository.id),
    one => environmentView(context, repository, one),
    (page, total) => ({ total_count: total, environments: page }),
  )

const put = (call: RepositoryCall): RestAnswer => {
  const name = nameOf(call)
  if (name === '' || name.length > 255) throw invalidField('Environment', 'name', 'invalid')
  const environment = ensureEnvironment(call.context, call.repository, name)
  call.context.store.change(() => {
    environment.updatedAt = timestamp(call.context.now())
  })
  return ok(environmentView(call.context, call.repository, environment))
}

const reading = { permission: ['actions', 'environments', 'deployments'], level: 'read' } as const
const writing = { permission: 'administration', level: 'write' } as const
const root = '/repos/{owner}/{repo}/environments'
const environment = `${root}/{environment_name}`

export const environmentRoutes: readonly RestRoute[] = [
  repositoryRoute(reading, { method: 'GET', path: root, handle: list }),
  repositoryRoute(reading, {
    method: 'GET',
    path: environment,
    handle: call => ok(environmentView(call.context, call.repository, environmentOf(call))),
  }),
  repositoryRoute(writing, { method: 'PUT', path: environment, handle: put }),
  repositoryRoute(writing, {
    method: 'DELETE',
    path: environment,
    handle: call => {
      deleteEnvironment(call.context, environmentOf(call))
      return noContent
    },
  }),
]
