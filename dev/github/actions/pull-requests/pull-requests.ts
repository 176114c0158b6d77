// Opening, editing and closing a pull request, and GitHub's rules for it.
// https://docs.github.com/en/rest/pulls/pulls
import { timestamp } from '../../state/clock.ts'
import { accountOf, nextId, repositoryById } from '../../state/github-state.ts'
import { Refusal } from '../../state/refusal.ts'
import type { PullRequest, Repository } from '../../state/repositories.ts'
import type { RepositoryAction } from '../context.ts'
import { emitPullRequest } from './events.ts'
import { branchInNetwork } from './fork-network.ts'

export type NewPullRequest = {
  readonly title: string
  readonly body: string | null
  /** Branch, or `owner:branch` of a fork. */
  readonly head: string
  /** Whether the sender may see the repository of the head. */
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

/** Opens a pull request from a branch of the repository or of a fork; `refs/pull/<number>/head` points at its head. */
export async function openPullRequest(action: RepositoryAction, wanted: NewPullRequest): Promise<PullRequest> {
  const { context, repository, sender } = action
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
  // Checked after the last await, so that the second of two concurrent requests sees the first.
  const same = context.state.pullRequests.find(
    one =>
      one.repositoryId === repository.id &&
      one.state === 'open' &&
      one.head.repositoryId === from &&
      one.head.ref === head.branch &&
      one.base.ref === wanted.base,
  )
  const owner = accountOf(context.state, head.repository.ownerId).login
  if (same) throw refuseCustom(`A pull request already exists for ${owner}:${head.branch}.`)
  const at = timestamp(context.now())
  const pull = context.store.change((state): PullRequest => {
    repository.lastNumber += 1
    const made: PullRequest = {
      id: nextId(state),
      repositoryId: repository.id,
      number: repository.lastNumber,
      title: wanted.title,
      body: wanted.body,
      authorId: sender.id,
      state: 'open',
      draft: wanted.draft,
      head: { repositoryId: from, ref: head.branch, sha: headSha },
      base: { ref: wanted.base, sha: baseSha },
      labelIds: [],
      mergeTest: null,
      mergedAt: null,
      mergedById: null,
      mergeCommitSha: null,
      createdAt: at,
      updatedAt: at,
      closedAt: null,
    }
    state.pullRequests.push(made)
    return made
  })
  await context.git.updateRef(repository.id, `refs/pull/${pull.number}/head`, headSha)
  await emitPullRequest(action, pull, 'opened')
  return pull
}

/** Updates head and base to their branches; refuses when one of the branches has been deleted. */
async function refreshBranches({ context, repository }: RepositoryAction, pull: PullRequest): Promise<void> {
  const from = pull.head.repositoryId
  const gone = repositoryById(context.state, from) === undefined
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

/** Closes an open pull request or reopens a closed one; a merged one stays merged. */
export async function setPullRequestState(
  action: RepositoryAction,
  pull: PullRequest,
  state: PullRequest['state'],
): Promise<void> {
  if (pull.state === state) return
  if (pull.mergedAt !== null) throw refuseField('state')
  if (state === 'open') await refreshBranches(action, pull)
  const at = timestamp(action.context.now())
  action.context.store.change(() => Object.assign(pull, { state, updatedAt: at, closedAt: state === 'closed' ? at : null }))
  await emitPullRequest(action, pull, state === 'closed' ? 'closed' : 'reopened')
}

export type PullRequestEdit = {
  readonly title: string | undefined
  readonly body: string | undefined
  /** A different base branch. */
  readonly base: string | undefined
}

async function changeBase({ context, repository }: RepositoryAction, pull: PullRequest, ref: string): Promise<void> {
  const sha = await context.git.resolve(repository.id, `refs/heads/${ref}`)
  if (sha === undefined || pull.state !== 'open') throw refuseField('base')
  context.store.change(() => {
    pull.base = { ref, sha }
  })
}

/** Changes title, text and base branch. */
export async function editPullRequest(action: RepositoryAction, pull: PullRequest, change: PullRequestEdit): Promise<void> {
  const base = change.base === pull.base.ref ? undefined : change.base
  if (change.title === undefined && change.body === undefined && base === undefined) return
  const changes = {
    ...(change.title === undefined ? {} : { title: { from: pull.title } }),
    ...(change.body === undefined ? {} : { body: { from: pull.body ?? '' } }),
    ...(base === undefined ? {} : { base: { ref: { from: pull.base.ref }, sha: { from: pull.base.sha } } }),
  }
  if (base !== undefined) await changeBase(action, pull, base)
  action.context.store.change(() => {
    pull.title = change.title ?? pull.title
    pull.body = change.body ?? pull.body
    pull.updatedAt = timestamp(action.context.now())
  })
  await emitPullRequest(action, pull, 'edited', { changes })
}

/** Marks an open pull request as a draft, or as ready for review. */
export async function setDraft(action: RepositoryAction, pull: PullRequest, draft: boolean): Promise<void> {
  if (pull.draft === draft) return
  if (pull.state !== 'open') throw new Refusal(422, 'The pull request is closed.')
  action.context.store.change(() => {
    pull.draft = draft
    pull.updatedAt = timestamp(action.context.now())
  })
  await emitPullRequest(action, pull, draft ? 'converted_to_draft' : 'ready_for_review')
}
