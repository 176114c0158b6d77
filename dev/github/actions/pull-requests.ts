// Owns: opening, editing, closing and merging a pull request. The caller has checked the permissions; what the rules of pull requests
// forbid is refused here. https://docs.github.com/en/rest/pulls/pulls
import { timestamp } from '../clock.ts'
import type { Context } from '../context.ts'
import { commitTree, mergedTree } from '../git/write.ts'
import type { User } from '../state/accounts.ts'
import type { PullRequest, Repository } from '../state/repositories.ts'
import { accountOf, nextId } from '../state/world.ts'
import { Refusal } from './outcome.ts'
import { tellPullRequest } from './pull-request-events.ts'
import { recordPush } from './record-push.ts'

export type NewPullRequest = {
  readonly title: string
  readonly body: string | null
  /** Branch, or `owner:branch`. */
  readonly head: string
  readonly base: string
  readonly draft: boolean
}

const refuseField = (field: string): Refusal =>
  new Refusal(422, 'Validation Failed', [{ resource: 'PullRequest', field, code: 'invalid' }])
const refuseCustom = (message: string): Refusal =>
  new Refusal(422, 'Validation Failed', [{ resource: 'PullRequest', code: 'custom', message }])

const headBranch = (context: Context, repository: Repository, head: string): string => {
  const colon = head.indexOf(':')
  if (colon < 0) return head
  const owner = accountOf(context.world, repository.ownerId).login
  if (head.slice(0, colon).toLowerCase() !== owner.toLowerCase()) throw refuseField('head')
  return head.slice(colon + 1)
}

/** Opens a pull request between two branches of the repository and points `refs/pull/<number>/head` at its head. */
export const openPullRequest = async (
  context: Context,
  repository: Repository,
  author: User,
  wanted: NewPullRequest,
): Promise<PullRequest> => {
  const branch = headBranch(context, repository, wanted.head)
  const [headSha, baseSha] = await Promise.all([
    context.git.resolve(repository.id, `refs/heads/${branch}`),
    context.git.resolve(repository.id, `refs/heads/${wanted.base}`),
  ])
  if (headSha === undefined) throw refuseField('head')
  if (baseSha === undefined) throw refuseField('base')
  if ((await context.git.commits(repository.id, baseSha, headSha, 1)).length === 0) {
    throw refuseCustom(`No commits between ${wanted.base} and ${branch}`)
  }
  // After the last wait: of two requests at once the second must see the first.
  const same = context.world.pullRequests.find(
    one => one.repositoryId === repository.id && one.state === 'open' && one.head.ref === branch && one.base.ref === wanted.base,
  )
  const owner = accountOf(context.world, repository.ownerId).login
  if (same) throw refuseCustom(`A pull request already exists for ${owner}:${branch}.`)
  const at = timestamp(context.now())
  const pull = context.store.change((world): PullRequest => {
    repository.lastNumber += 1
    const made: PullRequest = {
      id: nextId(world),
      repositoryId: repository.id,
      number: repository.lastNumber,
      title: wanted.title,
      body: wanted.body,
      authorId: author.id,
      state: 'open',
      draft: wanted.draft,
      head: { repositoryId: repository.id, ref: branch, sha: headSha },
      base: { ref: wanted.base, sha: baseSha },
      mergedAt: null,
      mergedById: null,
      mergeCommitSha: null,
      createdAt: at,
      updatedAt: at,
      closedAt: null,
    }
    world.pullRequests.push(made)
    return made
  })
  await context.git.updateRef(repository.id, `refs/pull/${pull.number}/head`, headSha)
  await tellPullRequest(context, repository, pull, author, 'opened')
  return pull
}

/** Closes an open pull request or opens a closed one again; a merged one stays merged. */
export const setPullRequestState = async (
  context: Context,
  repository: Repository,
  pull: PullRequest,
  actor: User,
  state: PullRequest['state'],
): Promise<void> => {
  if (pull.state === state) return
  if (pull.mergedAt !== null) throw refuseField('state')
  if (state === 'open') {
    const head = await context.git.resolve(repository.id, `refs/heads/${pull.head.ref}`)
    const base = await context.git.resolve(repository.id, `refs/heads/${pull.base.ref}`)
    if (head === undefined || base === undefined) {
      throw refuseCustom(`The ${head === undefined ? pull.head.ref : pull.base.ref} branch has been deleted.`)
    }
    await context.git.updateRef(repository.id, `refs/pull/${pull.number}/head`, head)
    context.store.change(() => {
      pull.head.sha = head
      pull.base.sha = base
    })
  }
  context.store.change(() => {
    pull.state = state
    pull.updatedAt = timestamp(context.now())
    pull.closedAt = state === 'closed' ? pull.updatedAt : null
  })
  await tellPullRequest(context, repository, pull, actor, state === 'closed' ? 'closed' : 'reopened')
}

/** Changes title and text. */
export const editPullRequest = async (
  context: Context,
  repository: Repository,
  pull: PullRequest,
  actor: User,
  change: { readonly title: string | undefined; readonly body: string | undefined },
): Promise<void> => {
  if (change.title === undefined && change.body === undefined) return
  const before = { title: { from: pull.title }, body: { from: pull.body ?? '' } }
  context.store.change(() => {
    pull.title = change.title ?? pull.title
    pull.body = change.body ?? pull.body
    pull.updatedAt = timestamp(context.now())
  })
  const changes = {
    ...(change.title === undefined ? {} : { title: before.title }),
    ...(change.body === undefined ? {} : { body: before.body }),
  }
  await tellPullRequest(context, repository, pull, actor, 'edited', { changes })
}

export type MergeWish = {
  readonly method: 'merge' | 'squash' | 'rebase'
  /** The head that the caller looked at; another one refuses the merge. */
  readonly expectedHead: string | undefined
  readonly title: string | undefined
  readonly message: string | undefined
}

/** Moves the base branch unless somebody pushed to it in between. */
const moveBase = async (context: Context, repository: Repository, pull: PullRequest, from: string, to: string): Promise<void> => {
  const ref = `refs/heads/${pull.base.ref}`
  try {
    await context.git.updateRef(repository.id, ref, to, from)
  } catch (error) {
    if ((await context.git.resolve(repository.id, ref)) === from) throw error
    throw new Refusal(409, 'Base branch was modified. Review and try the merge again.')
  }
}

/** Merges an open pull request and answers the new commit of the base branch. Rebase merges are switched off here. */
export const mergePullRequest = async (
  context: Context,
  repository: Repository,
  pull: PullRequest,
  actor: User,
  wish: MergeWish,
): Promise<string> => {
  if (pull.state !== 'open' || pull.draft) throw new Refusal(405, 'Pull Request is not mergeable')
  if (wish.method === 'rebase') throw new Refusal(405, 'Rebase merges are not allowed on this repository.')
  if (wish.expectedHead !== undefined && wish.expectedHead !== pull.head.sha) {
    throw new Refusal(409, 'Head branch was modified. Review and try the merge again.')
  }
  const base = await context.git.resolve(repository.id, `refs/heads/${pull.base.ref}`)
  const tree = base === undefined ? undefined : await mergedTree(context.git, repository.id, base, pull.head.sha)
  if (base === undefined || tree === undefined) throw new Refusal(405, 'Pull Request is not mergeable')
  const owner = accountOf(context.world, repository.ownerId).login
  const squash = wish.method === 'squash'
  const title =
    wish.title ??
    (squash ? `${pull.title} (#${pull.number})` : `Merge pull request #${pull.number} from ${owner}/${pull.head.ref}`)
  const sha = await commitTree(context.git, repository.id, {
    tree,
    parents: squash ? [base] : [base, pull.head.sha],
    message: `${title}\n\n${wish.message ?? (squash ? '' : pull.title)}`.trimEnd().concat('\n'),
    author: actor,
    at: context.now(),
  })
  await moveBase(context, repository, pull, base, sha)
  context.store.change(() => {
    const at = timestamp(context.now())
    Object.assign(pull, { state: 'closed', mergedAt: at, mergedById: actor.id, mergeCommitSha: sha, closedAt: at, updatedAt: at })
  })
  await recordPush(context, repository, actor, [{ ref: `refs/heads/${pull.base.ref}`, before: base, after: sha }])
  await tellPullRequest(context, repository, pull, actor, 'closed')
  return sha
}
