// Owns: check suites: one per App and commit, made when a push arrives or a run needs one, with the `check_suite` events.
// https://docs.github.com/en/rest/guides/using-the-rest-api-to-interact-with-checks
import { noCommit, type RefUpdate } from '../../git/ref-update.ts'
import { installationCovers } from '../../state/access.ts'
import type { User } from '../../state/accounts.ts'
import type { App } from '../../state/apps.ts'
import type { CheckSuite } from '../../state/checks.ts'
import { timestamp } from '../../state/clock.ts'
import type { Repository } from '../../state/repositories.ts'
import { appById, installationOf, nextId } from '../../state/world.ts'
import { checkSuiteView } from '../../views/check.ts'
import { eventFrame } from '../../views/event-frame.ts'
import type { ActionContext } from '../context.ts'

/** Sends `check_suite` to the App that the suite belongs to; others hear of it only when it is completed. */
export async function tellSuite(
  context: ActionContext,
  repository: Repository,
  suite: CheckSuite,
  sender: User,
  action: 'requested' | 'completed',
): Promise<void> {
  const installation = installationOf(context.world, suite.appId, repository.ownerId)
  const asked = appById(context.world, suite.appId)?.events.includes('check_suite') ? installation : undefined
  if (action !== 'completed' && !asked) return
  const commit = await context.git.commit(repository.id, suite.headSha)
  const payload = {
    check_suite: checkSuiteView(context, repository, suite, commit),
    ...eventFrame(context, repository, sender),
  }
  const event = { name: 'check_suite', action, accountId: repository.ownerId, repositoryId: repository.id, payload }
  if (action === 'completed') context.webhooks.emit(event)
  else if (asked) context.webhooks.emitTo(asked, event)
}

/** The App's suite of a commit, made if there is none. */
export function suiteFor(
  context: ActionContext,
  app: App,
  repository: Repository,
  head: { readonly sha: string; readonly branch: string | null; readonly before: string | null },
): { readonly suite: CheckSuite; readonly isNew: boolean } {
  const known = context.world.checkSuites.find(
    one => one.appId === app.id && one.repositoryId === repository.id && one.headSha === head.sha,
  )
  if (known) return { suite: known, isNew: false }
  const at = timestamp(context.now())
  const suite = context.store.change(world => {
    const made: CheckSuite = {
      id: nextId(world),
      repositoryId: repository.id,
      appId: app.id,
      headSha: head.sha,
      headBranch: head.branch,
      before: head.before,
      createdAt: at,
      updatedAt: at,
    }
    world.checkSuites.push(made)
    return made
  })
  return { suite, isNew: true }
}

/** The branch that stands at the commit, if one does. */
export async function branchAt({ git }: ActionContext, repository: Repository, sha: string): Promise<string | null> {
  const heads = await git.refs(repository.id, 'refs/heads/')
  const [found] = [...heads].filter(([, at]) => at === sha).map(([ref]) => ref.slice('refs/heads/'.length))
  return found ?? null
}

/** A push to a branch asks every App that may write checks here for a suite. */
export async function requestSuites(
  context: ActionContext,
  repository: Repository,
  pusher: User,
  update: RefUpdate,
): Promise<void> {
  const branch = /^refs\/heads\/(.+)$/.exec(update.ref)?.[1]
  if (branch === undefined || update.after === noCommit) return
  const head = { sha: update.after, branch, before: update.before === noCommit ? null : update.before }
  const asked = context.world.installations.filter(
    one => one.permissions['checks'] === 'write' && installationCovers(one, repository),
  )
  for (const installation of asked) {
    const app = appById(context.world, installation.appId)
    if (!app) continue
    const { suite, isNew } = suiteFor(context, app, repository, head)
    if (isNew) await tellSuite(context, repository, suite, pusher, 'requested')
  }
}
