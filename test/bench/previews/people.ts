// What developers do on GitHub: branches with a commit, pull requests, pushes, closing. git runs in the emulator's own
// repositories, and the emulator sends the webhooks.
import type { RepositoryAction } from '../../../dev/github/actions/context.ts'
import { openPullRequest, setPullRequestState } from '../../../dev/github/actions/pull-requests/pull-requests.ts'
import { repositoryById, userByLogin } from '../../../dev/github/state/github-state.ts'
import type { IssueComment, PullRequest } from '../../../dev/github/state/repositories.ts'
import { pushCommit } from '../../../dev/github/testing/push-commit.ts'
import { tenants, type World } from './world.ts'

export type OpenPull = { readonly pull: PullRequest; readonly head: string /** By `performance.now()`. */; readonly at: number }

/** By the developer of the tenant that has the repository. */
function actionIn({ platform }: World, repository: number): RepositoryAction {
  const { context } = platform.github
  const found = repositoryById(context.state, repository)
  const tenant = tenants.find(({ organization }) => organization === found?.ownerId)
  const sender = tenant && userByLogin(context.state, tenant.login)
  if (!found || !sender) throw new Error(`the seed has no repository ${repository}, or nobody who writes in it`)
  return { context, repository: found, sender }
}

export type Push = { readonly repository: number; readonly branch: string; readonly text: string }

/** A commit with one changed file, on top of the branch, or of main for a new one. */
export function push(world: World, { repository, branch, text }: Push): Promise<string> {
  return pushCommit(actionIn(world, repository), { branch, text })
}

/** Resolves when the webhook was sent. */
export async function open(world: World, repository: number, branch: string): Promise<OpenPull> {
  const head = await push(world, { repository, branch, text: branch })
  return openFor(world, { repository, branch, head })
}

/** For a branch that was pushed before. */
export async function openFor(
  world: World,
  { repository, branch, head }: { readonly repository: number; readonly branch: string; readonly head: string },
): Promise<OpenPull> {
  const wanted = { title: branch, body: null, head: branch, seesHead: () => true, base: 'main', draft: false }
  const at = performance.now()
  const pull = await openPullRequest(actionIn(world, repository), wanted)
  return { pull, head, at }
}

/** Resolves to the time of it. */
export async function close(world: World, pull: PullRequest): Promise<number> {
  const at = performance.now()
  await setPullRequestState(actionIn(world, pull.repositoryId), pull, 'closed')
  return at
}

export async function reopen(world: World, pull: PullRequest): Promise<void> {
  await setPullRequestState(actionIn(world, pull.repositoryId), pull, 'open')
}

function commentsOf({ platform }: World, { repositoryId, number }: PullRequest): readonly IssueComment[] {
  return platform.github.context.state.comments.filter(one => one.repositoryId === repositoryId && one.number === number)
}

/** The word in the title of the platform's comment. */
export function commentSays(world: World, pull: PullRequest, phase: string): true | undefined {
  return commentsOf(world, pull).some(({ body }) => body.includes(`: ${phase}**`)) || undefined
}
