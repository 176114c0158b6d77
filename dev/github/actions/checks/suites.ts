// Check suites: one per App and commit, created when a push arrives or a run needs one, with the `check_suite` webhooks.
// https://docs.github.com/en/rest/guides/using-the-rest-api-to-interact-with-checks
import { noCommit, type RefUpdate } from '../../git/ref-update.ts'
import { installationCovers } from '../../state/access.ts'
import type { App } from '../../state/apps.ts'
import type { CheckSuite } from '../../state/checks.ts'
import { timestamp } from '../../state/clock.ts'
import { appById, installationOf, nextId } from '../../state/github-state.ts'
import type { Repository } from '../../state/repositories.ts'
import { checkSuiteView } from '../../views/check.ts'
import { eventFrame } from '../../views/event-frame.ts'
import type { ActionContext, RepositoryAction } from '../context.ts'

/** Sends `check_suite`: `requested` to the App to which the suite belongs, `completed` to every subscriber. */
export async function emitSuite(
  { context, repository, sender }: RepositoryAction,
  suite: CheckSuite,
  action: 'requested' | 'completed',
): Promise<void> {
  const subscribed = appById(context.state, suite.appId)?.events.includes('check_suite')
  const own = subscribed ? installationOf(context.state, suite.appId, repository.ownerId) : undefined
  if (action === 'requested' && !own) return
  const commit = await context.git.commit(repository.id, suite.headSha)
  const payload = {
    check_suite: checkSuiteView(context, repository, suite, commit),
    ...eventFrame(context, repository, sender),
  }
  const event = { name: 'check_suite', action, accountId: repository.ownerId, repositoryId: repository.id, payload }
  if (action === 'completed') context.webhooks.emit(event)
  else if (own) context.webhooks.emitTo(own, event)
}

/** The App's suite of a commit, created if it does not exist. */
export function suiteFor(
  context: ActionContext,
  app: App,
  repository: Repository,
  head: { readonly sha: string; readonly branch: string | null; readonly before: string | null },
): { readonly suite: CheckSuite; readonly isNew: boolean } {
  const known = context.state.checkSuites.find(
    one => one.appId === app.id && one.repositoryId === repository.id && one.headSha === head.sha,
  )
  if (known) return { suite: known, isNew: false }
  const at = timestamp(context.now())
  const suite = context.store.change(state => {
    const made: CheckSuite = {
      id: nextId(state),
      repositoryId: repository.id,
      appId: app.id,
      headSha: head.sha,
      headBranch: head.branch,
      before: head.before,
      createdAt: at,
      updatedAt: at,
    }
    state.checkSuites.push(made)
    return made
  })
  return { suite, isNew: true }
}

/** A branch whose head is the commit, if there is one. */
export async function branchAt({ git }: ActionContext, repository: Repository, sha: string): Promise<string | null> {
  const heads = await git.refs(repository.id, 'refs/heads/')
  const [found] = [...heads].filter(([, at]) => at === sha).map(([ref]) => ref.slice('refs/heads/'.length))
  return found ?? null
}

/** After a push to a branch: creates a suite for every App that may write checks here and asks the App to fill it. */
export async function requestSuites(action: RepositoryAction, update: RefUpdate): Promise<void> {
  const branch = /^refs\/heads\/(.+)$/.exec(update.ref)?.[1]
  if (branch === undefined || update.after === noCommit) return
  const { context, repository } = action
  const head = { sha: update.after, branch, before: update.before === noCommit ? null : update.before }
  const writers = context.state.installations.filter(
    one => one.permissions['checks'] === 'write' && installationCovers(one, repository),
  )
  for (const installation of writers) {
    const app = appById(context.state, installation.appId)
    if (!app) continue
    const { suite, isNew } = suiteFor(context, app, repository, head)
    if (isNew) await emitSuite(action, suite, 'requested')
  }
}
