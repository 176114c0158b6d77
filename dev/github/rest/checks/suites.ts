// Owns: the routes about check suites. https://docs.github.com/en/rest/checks/suites
import { branchAt, suiteFor, tellSuite } from '../../actions/checks/suites.ts'
import type { CheckSuite } from '../../state/checks.ts'
import { checkSuiteView } from '../../views/check.ts'
import { created, notFound, ok, type RestAnswer, RestError } from '../protocol/answer.ts'
import { fieldsOf } from '../protocol/body.ts'
import { paged } from '../protocol/page.ts'
import { commitOf } from '../repository/branches.ts'
import { type RepositoryCall, type RestRoute, repositoryRoute, writerOf } from '../route.ts'
import { appOfCall, listRuns } from './runs.ts'

const suiteOf = ({ context, repository, params }: RepositoryCall): CheckSuite => {
  const found = context.world.checkSuites.find(
    one => one.repositoryId === repository.id && String(one.id) === params['check_suite_id'],
  )
  if (!found) throw notFound()
  return found
}

const show = async ({ context, repository }: RepositoryCall, suite: CheckSuite) =>
  checkSuiteView(context, repository, suite, await context.git.commit(repository.id, suite.headSha))

const create = async (call: RepositoryCall): Promise<RestAnswer> => {
  const { context, repository } = call
  const app = appOfCall(call)
  const asked = fieldsOf(call.body, 'CheckSuite').text('head_sha', 40)
  const sha = /^[0-9a-f]{40}$/i.test(asked) ? await context.git.resolve(repository.id, asked) : undefined
  if (sha === undefined) throw new RestError(422, `No commit found for SHA: ${asked}`)
  const { suite, isNew } = suiteFor(context, app, repository, {
    sha,
    branch: await branchAt(context, repository, sha),
    before: null,
  })
  return isNew ? created(await show(call, suite)) : ok(await show(call, suite))
}

const rerequest = async (call: RepositoryCall): Promise<RestAnswer> => {
  appOfCall(call)
  await tellSuite(call.context, call.repository, suiteOf(call), writerOf(call), 'rerequested')
  return created({})
}

const ofCommit = async (call: RepositoryCall): Promise<RestAnswer> => {
  const { context, repository, query } = call
  const sha = await commitOf(call)
  const appId = query.get('app_id')
  const found = context.world.checkSuites
    .filter(one => one.repositoryId === repository.id && one.headSha === sha)
    .filter(one => appId === null || String(one.appId) === appId)
  const shown = await Promise.all(found.map(one => show(call, one)))
  return paged(
    call.paging,
    shown,
    one => one,
    (page, total) => ({ total_count: total, check_suites: page }),
  )
}

const reading = { permission: 'checks', level: 'read' } as const
const writing = { permission: 'checks', level: 'write' } as const
const root = '/repos/{owner}/{repo}/check-suites'
const suite = `${root}/{check_suite_id}`

export const checkSuiteRoutes: readonly RestRoute[] = [
  repositoryRoute(writing, { method: 'POST', path: root, handle: create }),
  repositoryRoute(reading, { method: 'GET', path: suite, handle: async call => ok(await show(call, suiteOf(call))) }),
  repositoryRoute(reading, {
    method: 'GET',
    path: `${suite}/check-runs`,
    handle: call => {
      const { id } = suiteOf(call)
      return listRuns(
        call,
        call.context.world.checkRuns.filter(one => one.suiteId === id),
      )
    },
  }),
  repositoryRoute(writing, { method: 'POST', path: `${suite}/rerequest`, handle: rerequest }),
  repositoryRoute(reading, { method: 'GET', path: '/repos/{owner}/{repo}/commits/{ref}/check-suites', handle: ofCommit }),
]
