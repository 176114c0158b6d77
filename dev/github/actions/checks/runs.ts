// Check runs: created and changed by the App to which they belong, with the `check_run` webhooks. The caller has checked that it is that
// App. https://docs.github.com/en/rest/checks/runs
import type { App } from '../../state/apps.ts'
import type { CheckConclusion, CheckRun, CheckStatus, CheckSuite } from '../../state/checks.ts'
import { timestamp } from '../../state/clock.ts'
import { nextId } from '../../state/github-state.ts'
import { Refusal } from '../../state/refusal.ts'
import { checkRunView, checkSuiteView, suiteState } from '../../views/check.ts'
import { eventFrame } from '../../views/event-frame.ts'
import type { ActionContext, RepositoryAction } from '../context.ts'
import { branchAt, emitSuite, suiteFor } from './suites.ts'

/** An App's report about a run; an undefined field keeps its value. */
export type RunReport = {
  readonly name: string | undefined
  readonly externalId: string | undefined
  readonly detailsUrl: string | undefined
  readonly status: CheckStatus | undefined
  readonly conclusion: CheckConclusion | undefined
  readonly startedAt: string | undefined
  readonly completedAt: string | undefined
  readonly output:
    | { readonly title: string | undefined; readonly summary: string | undefined; readonly text: string | undefined }
    | undefined
}

async function emitRun(
  { context, repository, sender }: RepositoryAction,
  run: CheckRun,
  suite: CheckSuite,
  action: 'created' | 'completed' | 'rerequested',
): Promise<void> {
  const commit = await context.git.commit(repository.id, suite.headSha)
  context.webhooks.emit({
    name: 'check_run',
    action,
    accountId: repository.ownerId,
    repositoryId: repository.id,
    payload: {
      check_run: { ...checkRunView(context, repository, run), check_suite: checkSuiteView(context, repository, suite, commit) },
      ...eventFrame(context, repository, sender),
    },
  })
}

/** A conclusion completes a run; completing without one is refused. */
function statusOf(run: CheckRun, report: RunReport): CheckStatus {
  const status = report.conclusion === undefined ? (report.status ?? run.status) : 'completed'
  if (status === 'completed' && report.conclusion === undefined && run.conclusion === null) {
    throw new Refusal(422, 'Invalid request.\n\nFor \'properties/status\', "completed" needs a conclusion.')
  }
  return status
}

function apply(context: ActionContext, run: CheckRun, report: RunReport): void {
  const status = statusOf(run, report)
  const completed = status === 'completed'
  const { name, externalId, detailsUrl, startedAt, output } = report
  const given = { name, externalId, detailsUrl, startedAt, ...output }
  context.store.change(() => {
    Object.assign(run, Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)))
    run.status = status
    run.conclusion = completed ? (report.conclusion ?? run.conclusion) : null
    run.completedAt = completed ? (report.completedAt ?? run.completedAt ?? timestamp(context.now())) : null
  })
}

function suiteOf(context: ActionContext, run: CheckRun): CheckSuite {
  const suite = context.state.checkSuites.find(one => one.id === run.suiteId)
  if (!suite) throw new Error(`check run ${run.id} belongs to suite ${run.suiteId}, which does not exist`)
  return suite
}

/** Sends the webhooks of a run that has just been completed. */
async function emitCompletion(action: RepositoryAction, run: CheckRun, wasComplete: boolean): Promise<void> {
  if (run.status !== 'completed' || wasComplete) return
  const { context } = action
  const suite = suiteOf(context, run)
  await emitRun(action, run, suite, 'completed')
  context.store.change(() => {
    suite.updatedAt = timestamp(context.now())
  })
  const runs = context.state.checkRuns.filter(one => one.suiteId === suite.id)
  if (suiteState(runs).status === 'completed') await emitSuite(action, suite, 'completed')
}

/** Creates a run in the App's suite of the commit. */
export async function createRun(
  action: RepositoryAction,
  app: App,
  head: { readonly sha: string; readonly name: string },
  report: RunReport,
): Promise<CheckRun> {
  const { context, repository } = action
  const { suite } = suiteFor(context, app, repository, {
    sha: head.sha,
    branch: await branchAt(context, repository, head.sha),
    before: null,
  })
  const run: CheckRun = {
    id: context.store.change(nextId),
    suiteId: suite.id,
    repositoryId: repository.id,
    name: head.name,
    externalId: null,
    detailsUrl: null,
    status: 'queued',
    conclusion: null,
    startedAt: timestamp(context.now()),
    completedAt: null,
    title: null,
    summary: null,
    text: null,
  }
  apply(context, run, report)
  context.store.change(state => state.checkRuns.push(run))
  await emitRun(action, run, suite, 'created')
  await emitCompletion(action, run, false)
  return run
}

/** Applies a report to a run. */
export async function changeRun(action: RepositoryAction, run: CheckRun, report: RunReport): Promise<void> {
  const wasComplete = run.status === 'completed'
  apply(action.context, run, report)
  await emitCompletion(action, run, wasComplete)
}

/** Asks the App to run the check again; the App answers with a new report. */
export async function rerequestRun(action: RepositoryAction, run: CheckRun): Promise<void> {
  action.context.store.change(() => {
    run.status = 'queued'
    run.conclusion = null
    run.completedAt = null
  })
  await emitRun(action, run, suiteOf(action.context, run), 'rerequested')
}
