// Owns: opening, editing and closing a pull request. The caller has checked the permissions; what the rules of pull requests
// forbid is refused here. https://docs.github.com/en/rest/pulls/pulls
import type { User } from '../../state/accounts.ts'
import { timestamp } from '../../state/clock.ts'
import { Refusal } from '../../state/refusal.ts'
import type { PullRequest, Repository } from '../../state/repositories.ts'
import { accountOf, nextId, repositoryById } from '../../state/world.ts'
import type { ActionContext } from '../context.ts'
import { tellPullRequest } from './events.ts'
import { branchInNetwork } from './fork-network.ts'

export type NewPullRequest = {
  readonly title: string
  readonly body: string | null
  /** Branch, or `owner:branch` of a fork. */
  readonly head: string
  /** Whether who opens it may see the repository of the head. */
  readonly seesHead: (head: Repository) => boolean
  readonly base: string
  readonly draft: boolean
}

function refuseField(field: string): Refusal {
  return new Refusal(422, 'Validation Failed', [{ resource: 'PullRequest', field, code: 'invalid' }])
}

function refuseCustom(message: string): Refusal {
  return new Refusal(422, 'Validation Failed', [{ resource: 'PullRequest', code: 'custom', message }])
}

/** Opens a pull request from a branch of the repository or of a fork and points `refs/pull/<number>/head` at its head. */
export async function openPullRequest(
  context: ActionContext,
  repository: Repository,
  author: User,
  wanted: NewPullRequest,
): Promise<PullRequest> {
  const head = branchInNetwork(context, repository, wanted.head)
  if (!head || !wanted.seesHead(head.repository)) throw refuseField('head')
  const from = head.repository.id
  const [headSha, baseSha] = await Promise.all([
    context.git.resolve(from, `refs/heads/${head.branch}`),
    context.git.resolve(repository.id, `refs/heads/${wanted.base}`),
  ])
  if (headSha === undefined) throw refuseField('head')
  if (baseSha === undefined) throw refuseField('base')
  if (from !== repository.id) await context.git.borrow(from, repository.id, headSha)
  if ((await context.git.commits(repository.id, baseSha, headSha, 1)).length === 0) {
    throw refuseCustom(`No commits between ${wanted.base} and ${head.branch}`)
  }
  // After the last wait: of two requests at once the second must see the first.
  const same = context.world.pullRequests.find(
    one =>
      one.repositoryId === repository.id &&
      one.state === 'open' &&
      one.head.repositoryId === from &&
      one.head.ref === head.branch &&
      one.base.ref === wanted.base,
  )
  const owner = accountOf(context.world, head.repository.ownerId).login
  if (same) throw refuseCustom(`A pull request already exists for ${owner}:${head.branch}.`)
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
      head: { repositoryId: from, ref: head.branch, sha: headSha },
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
export async function setPullRequestState(
  context: ActionContext,
  repository: Repository,
  pull: PullRequest,
  actor: User,
  state: PullRequest['state'],
): Promise<void> {
  if (pull.state === state) return
  if (pull.mergedAt !== null) throw refuseField('state')
  if (state === 'open') {
    const from = pull.head.repositoryId
    const gone = repositoryById(context.world, from) === undefined
    const head = gone ? undefined : await context.git.resolve(from, `refs/heads/${pull.head.ref}`)
    const base = await context.git.resolve(repository.id, `refs/heads/${pull.base.ref}`)
    if (head === undefined || base === undefined) {
      throw refuseCustom(`The ${head === undefined ? pull.head.ref : pull.base.ref} branch has been deleted.`)
    }
    if (from !== repository.id) await context.git.borrow(from, repository.id, head)
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

export type PullRequestEdit = {
  readonly title: string | undefined
  readonly body: string | undefined
  /** Another base branch. */
  readonly base: string | undefined
}

async function changeBase(context: ActionContext, repository: Repository, pull: PullRequest, ref: string): Promise<void> {
  const sha = await context.git.resolve(repository.id, `refs/heads/${ref}`)
  if (sha === undefined || pull.state !== 'open') throw refuseField('base')
  context.store.change(() => {
    pull.base = { ref, sha }
  })
}

/** Changes title, text and base branch. */
export async function editPullRequest(
  context: ActionContext,
  repository: Repository,
  pull: PullRequest,
  actor: User,
  change: PullRequestEdit,
): Promise<void> {
  const before = { title: { from: pull.title }, body: { from: pull.body ?? '' } }
  const base = change.base === undefined || change.base === pull.base.ref ? undefined : change.base
  if (change.title === undefined && change.body === undefined && base === undefined) return
  const oldBase = { ref: { from: pull.base.ref }, sha: { from: pull.base.sha } }
  if (base !== undefined) await changeBase(context, repository, pull, base)
  context.store.change(() => {
    pull.title = change.title ?? pull.title
    pull.body = change.body ?? pull.body
    pull.updatedAt = timestamp(context.now())
  })
  const changes = {
    ...(change.title === undefined ? {} : { title: before.title }),
    ...(change.body === undefined ? {} : { body: before.body }),
    ...(base === undefined ? {} : { base: oldBase }),
  }
  await tellPullRequest(context, repository, pull, actor, 'edited', { changes })
}

/** Marks an open pull request as a draft, or as ready for review. */
export async function setDraft(
  context: ActionContext,
  repository: Repository,
  pull: PullRequest,
  actor: User,
  draft: boolean,
): Promise<void> {
  if (pull.draft === draft) return
  if (pull.state !== 'open') throw new Refusal(422, 'The pull request is closed.')
  context.store.change(() => {
    pull.draft = draft
    pull.updatedAt = timestamp(context.now())
  })
  await tellPullRequest(context, repository, pull, actor, draft ? 'converted_to_draft' : 'ready_for_review')
}
