// The routes about check runs. Only the App that created a run may change it; a person cannot create one.
// https://docs.github.com/en/rest/checks/runs
import { changeRun, createRun, type RunReport, rerequestRun } from '../../actions/checks/runs.ts'
import type { App } from '../../state/apps.ts'
import { type CheckRun, type CheckSuite, checkConclusions, checkStatuses } from '../../state/checks.ts'
import { checkRunView } from '../../views/check.ts'
import { created, invalidField, notAccessible, notFound, ok, type RestAnswer, RestError } from '../protocol/answer.ts'
import { type Fields, fieldsOf } from '../protocol/body.ts'
import { paged } from '../protocol/page.ts'
import { commitOf } from '../repository/branches.ts'
import { actionOf, type RepositoryCall, type RestRoute, repositoryRoute } from '../route.ts'

const longestText = 65_535

/** The App of an installation token; no other actor may write checks. */
function appOfCall({ actor }: RepositoryCall): App {
  if (actor.kind !== 'installation') throw new RestError(403, 'You must authenticate via a GitHub App.')
  return actor.app
}

function runOf({ context, repository, params }: RepositoryCall): CheckRun {
  const found = context.state.checkRuns.find(
    one => one.repositoryId === repository.id && String(one.id) === params['check_run_id'],
  )
  if (!found) throw notFound()
  return found
}

function suiteOf({ context }: RepositoryCall, run: CheckRun): CheckSuite {
  const suite = context.state.checkSuites.find(one => one.id === run.suiteId)
  if (!suite) throw new Error(`check run ${run.id} has no suite`)
  return suite
}

function outputOf(fields: Fields): RunReport['output'] {
  const record = fields.optionalRecord('output')
  if (record === undefined) return undefined
  const output = fieldsOf(record, 'CheckRun')
  return {
    title: output.optionalText('title', 255),
    summary: output.optionalText('summary', longestText),
    text: output.optionalText('text', longestText),
  }
}

function timeOf(fields: Fields, name: string): string | undefined {
  const text = fields.optionalText(name, 40)
  if (text !== undefined && Number.isNaN(Date.parse(text))) throw invalidField('CheckRun', name, 'invalid')
  return text === undefined ? undefined : `${new Date(text).toISOString().slice(0, 19)}Z`
}

function reportOf(fields: Fields): RunReport {
  return {
    name: fields.optionalText('name', 255),
    externalId: fields.optionalText('external_id', 255),
    detailsUrl: fields.optionalText('details_url', 2000),
    status: fields.optionalOneOf('status', checkStatuses),
    conclusion: fields.optionalOneOf('conclusion', checkConclusions),
    startedAt: timeOf(fields, 'started_at'),
    completedAt: timeOf(fields, 'completed_at'),
    output: outputOf(fields),
  }
}

async function create(call: RepositoryCall): Promise<RestAnswer> {
  const { context, repository } = call
  const app = appOfCall(call)
  const fields = fieldsOf(call.body, 'CheckRun')
  const name = fields.text('name', 255)
  const asked = fields.text('head_sha', 40)
  const sha = /^[0-9a-f]{40}$/i.test(asked) ? await context.git.resolve(repository.id, asked) : undefined
  if (sha === undefined) throw new RestError(422, `No commit found for SHA: ${asked}`)
  const run = await createRun(actionOf(call), app, { sha, name }, reportOf(fields))
  const view = checkRunView(context, repository, run)
  return created(view, { location: view.url })
}

async function update(call: RepositoryCall): Promise<RestAnswer> {
  const run = runOf(call)
  if (suiteOf(call, run).appId !== appOfCall(call).id) throw notAccessible()
  await changeRun(actionOf(call), run, reportOf(fieldsOf(call.body, 'CheckRun')))
  return ok(checkRunView(call.context, call.repository, run))
}

async function rerequest(call: RepositoryCall): Promise<RestAnswer> {
  appOfCall(call)
  await rerequestRun(actionOf(call), runOf(call))
  return created({})
}

/** Runs filtered by the query; `filter=latest` (the default) keeps the newest run per name and suite. */
function listRuns(call: RepositoryCall, runs: readonly CheckRun[]): RestAnswer {
  const { query } = call
  const [name, status, appId] = [query.get('check_name'), query.get('status'), query.get('app_id')]
  const newestFirst = [...runs].reverse()
  const latest = newestFirst.filter(
    (one, at) => newestFirst.findIndex(other => other.name === one.name && other.suiteId === one.suiteId) === at,
  )
  const found = (query.get('filter') === 'all' ? newestFirst : latest)
    .filter(one => name === null || one.name === name)
    .filter(one => status === null || one.status === status)
    .filter(one => appId === null || String(suiteOf(call, one).appId) === appId)
  return paged(
    call.paging,
    found,
    one => checkRunView(call.context, call.repository, one),
    (page, total) => ({ total_count: total, check_runs: page }),
  )
}

async function ofCommit(call: RepositoryCall): Promise<RestAnswer> {
  const { state } = call.context
  const sha = await commitOf(call)
  const suites = state.checkSuites.filter(one => one.repositoryId === call.repository.id && one.headSha === sha)
  const ids = new Set(suites.map(one => one.id))
  return listRuns(
    call,
    state.checkRuns.filter(one => ids.has(one.suiteId)),
  )
}

const reading = { permission: 'checks', level: 'read' } as const
const writing = { permission: 'checks', level: 'write' } as const
const root = '/repos/{owner}/{repo}/check-runs'
const run = `${root}/{check_run_id}`

export const checkRunRoutes: readonly RestRoute[] = [
  repositoryRoute(writing, { method: 'POST', path: root, handle: create }),
  repositoryRoute(reading, {
    method: 'GET',
    path: run,
    handle: call => ok(checkRunView(call.context, call.repository, runOf(call))),
  }),
  repositoryRoute(writing, { method: 'PATCH', path: run, handle: update }),
  repositoryRoute(writing, { method: 'POST', path: `${run}/rerequest`, handle: rerequest }),
  repositoryRoute(reading, { method: 'GET', path: '/repos/{owner}/{repo}/commits/{ref}/check-runs', handle: ofCommit }),
]
