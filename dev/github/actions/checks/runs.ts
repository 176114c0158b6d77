// Owns: check runs: made and changed by the App they belong to, with the `check_run` events. The caller has checked that it is that App.
// https://docs.github.com/en/rest/checks/runs
import type { User } from '../../state/accounts.ts'
import type { App } from '../../state/apps.ts'
import type { CheckConclusion, CheckRun, CheckStatus, CheckSuite } from '../../state/checks.ts'
import { timestamp } from '../../state/clock.ts'
import { Refusal } from '../../state/refusal.ts'
import type { Repository } from '../../state/repositories.ts'
import { nextId } from '../../state/world.ts'
import { checkRunView, checkSuiteView, suiteState } from '../../views/check.ts'
import { eventFrame } from '../../views/event-frame.ts'
import type { ActionContext } from '../context.ts'
import { branchAt, suiteFor, tellSuite } from './suites.ts'

export type RunReport = {
  readonly name: string | undefined
  readonly externalId: string | undefined
  readonly detailsUrl: string | undefined
  readonly status: CheckStatus | undefined
  readonly conclusion: CheckConclusion | undefined
  readonly startedAt: string | undefined
  readonly completedAt: string | undefined
  readonly output:
    | {
        readonly title: string | undefined
        readonly summary: string | undefined
        readonly text: string | undefined
      }
    | undefined
}

async function tellRun(
  context: ActionContext,
  repository: Repository,
  run: CheckRun,
  suite: CheckSuite,
  sender: User,
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

/** Writes a report into a run. A conclusion completes it; completing without one is refused. */
function apply(context: ActionContext, run: CheckRun, report: RunReport): void {
  const status = report.conclusion === undefined ? (report.status ?? run.status) : 'completed'
  if (status === 'completed' && report.conclusion === undefined && run.conclusion === null) {
    throw new Refusal(422, 'Invalid request.\n\nFor \'properties/status\', "completed" needs a conclusion.')
  }
  const { output } = report
  context.store.change(() => {
    run.name = report.name ?? run.name
    run.externalId = report.externalId ?? run.externalId
    run.detailsUrl = report.detailsUrl ?? run.detailsUrl
    run.status = status
    run.conclusion = status === 'completed' ? (report.conclusion ?? run.conclusion) : null
    run.startedAt = report.startedAt ?? run.startedAt
    run.completedAt = status === 'completed' ? (report.completedAt ?? run.completedAt ?? timestamp(context.now())) : null
    run.title = output?.title ?? run.title
    run.summary = output?.summary ?? run.summary
    run.text = output?.text ?? run.text
  })
}

function suiteOf(context: ActionContext, run: CheckRun): CheckSuite {
  const suite = context.world.checkSuites.find(one => one.id === run.suiteId)
  if (!suite) throw new Error(`check run ${run.id} belongs to suite ${run.suiteId}, which does not exist`)
  return suite
}

/** What follows from a run that is complete now and was not before. */
async function tellCompletion(
  context: ActionContext,
  repository: Repository,
  run: CheckRun,
  wasComplete: boolean,
  sender: User,
): Promise<void> {
  if (run.status !== 'completed' || wasComplete) return
  const suite = suiteOf(context, run)
  await tellRun(context, repository, run, suite, sender, 'completed')
  context.store.change(() => {
    suite.updatedAt = timestamp(context.now())
  })
  const runs = context.world.checkRuns.filter(one => one.suiteId === suite.id)
  if (suiteState(runs).status === 'completed') await tellSuite(context, repository, suite, sender, 'completed')
}

/** Makes a run in the App's suite of the commit. */
export async function createRun(
  context: ActionContext,
  app: App,
  repository: Repository,
  head: { readonly sha: string; readonly name: string },
  report: RunReport,
  sender: User,
): Promise<CheckRun> {
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
  context.store.change(world => world.checkRuns.push(run))
  await tellRun(context, repository, run, suite, sender, 'created')
  await tellCompletion(context, repository, run, false, sender)
  return run
}

export async function changeRun(
  context: ActionContext,
  repository: Repository,
  run: CheckRun,
  report: RunReport,
  sender: User,
): Promise<void> {
  const wasComplete = run.status === 'completed'
  apply(context, run, report)
  await tellCompletion(context, repository, run, wasComplete, sender)
}

/** Asks the App to do a run again; the App answers with a new report. */
export async function rerequestRun(context: ActionContext, repository: Repository, run: CheckRun, sender: User): Promise<void> {
  context.store.change(() => {
    run.status = 'queued'
    run.conclusion = null
    run.completedAt = null
  })
  await tellRun(context, repository, run, suiteOf(context, run), sender, 'rerequested')
}
