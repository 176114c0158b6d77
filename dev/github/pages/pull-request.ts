// The page of one pull request and its buttons: open, comment, merge, close, reopen, draft, delete the branch.
import type { FastifyInstance } from 'fastify'
import type { ActionContext } from '../actions/context.ts'
import { createComment } from '../actions/pull-requests/comments.ts'
import { pullRequestFacts } from '../actions/pull-requests/facts.ts'
import { deleteHeadBranch, mergePullRequest } from '../actions/pull-requests/merge.ts'
import { testMerge } from '../actions/pull-requests/merge-test.ts'
import { openPullRequest, setDraft, setPullRequestState } from '../actions/pull-requests/pull-requests.ts'
import { canSee } from '../state/access.ts'
import { fullName, pullRequestByNumber, userOf } from '../state/github-state.ts'
import { Refusal } from '../state/refusal.ts'
import type { PullRequest, Repository } from '../state/repositories.ts'
import { type PageCall, type PageResult, pagesOf } from './browser.ts'
import { type Html, html } from './html.ts'
import { buttonForm, formToken, page } from './layout.ts'
import { markdown } from './markdown/markdown.ts'
import { actionOf, repositoryOfPage, requireNotArchived, requirePush, statusList } from './repository.ts'

type Subject = { readonly repository: Repository; readonly pull: PullRequest; readonly at: string }

const maxTitle = 256
const maxText = 65_536

function subjectOf(call: PageCall): Subject {
  const repository = repositoryOfPage(call)
  const number = call.params['number'] ?? ''
  const pull = /^\d{1,9}$/.test(number) ? pullRequestByNumber(call.context.state, repository.id, Number(number)) : undefined
  if (!pull) throw new Refusal(404, 'There is no such pull request.')
  return { repository, pull, at: `/${fullName(call.context.state, repository)}/pull/${pull.number}` }
}

function bounded(text: string | undefined, longest: number, name: string): string {
  if (text === undefined || text.trim() === '') throw new Refusal(422, `${name} is empty.`)
  if (text.length > longest) throw new Refusal(422, `${name} is longer than ${longest} characters.`)
  return text
}

/** One button per merge method, when git can merge. */
function mergeButtons({ visitor }: PageCall, { pull, at }: Subject, mergeable: boolean | null): readonly Html[] {
  if (pull.draft) return [html`<p>This pull request is a draft.</p>`]
  if (!mergeable) return [html`<p>This branch has conflicts.</p>`]
  const button = (label: string, method: string): Html =>
    buttonForm(visitor, `${at}/merge`, label, { fields: { expected_head: pull.head.sha, method } })
  return [button('Merge pull request', 'merge'), button('Squash and merge', 'squash')]
}

function buttonsOf(call: PageCall, subject: Subject, mergeable: boolean | null): readonly Html[] {
  const { visitor } = call
  const { repository, pull, at } = subject
  if (pull.state === 'open') {
    return [
      ...mergeButtons(call, subject, mergeable),
      pull.draft
        ? buttonForm(visitor, `${at}/ready`, 'Ready for review', { look: 'quiet' })
        : buttonForm(visitor, `${at}/draft`, 'Convert to draft', { look: 'quiet' }),
      buttonForm(visitor, `${at}/close`, 'Close pull request', { look: 'danger' }),
    ]
  }
  return [
    ...(pull.mergedAt === null ? [buttonForm(visitor, `${at}/reopen`, 'Reopen pull request', { look: 'quiet' })] : []),
    ...(pull.head.repositoryId === repository.id
      ? [buttonForm(visitor, `${at}/delete-branch`, 'Delete branch', { look: 'quiet' })]
      : []),
  ]
}

async function show(call: PageCall): Promise<PageResult> {
  const { context, visitor } = call
  const { repository, pull, at } = subjectOf(call)
  // GitHub's page waits for the test.
  await testMerge(context, pull)
  const { mergeable, commits, additions, deletions } = await pullRequestFacts(context, pull)
  const comments = context.state.comments.filter(one => one.repositoryId === repository.id && one.number === pull.number)
  return page(
    `#${pull.number} ${pull.title}`,
    visitor,
    html`<p><strong>${pull.mergedAt === null ? pull.state : 'merged'}</strong>: ${userOf(context.state, pull.authorId).login} wants to merge ${commits} commits
(+${additions} −${deletions}) from <code>${pull.head.ref}</code> into <code>${pull.base.ref}</code></p><p>Head <code>${pull.head.sha}</code></p>${markdown(pull.body)}
<h2>Statuses</h2>${statusList(context, repository, pull.head.sha)}<h2>Comments</h2>
${comments.map(one => html`<article><strong>${userOf(context.state, one.authorId).login}</strong> ${one.createdAt}${markdown(one.body)}</article>`)}
<form method="post" action="${at}/comments">${formToken(visitor)}<p><label>Comment <textarea name="body" required></textarea></label></p><button class="quiet">Comment</button></form>
<p>${buttonsOf(call, { repository, pull, at }, mergeable)}</p>`,
  )
}

async function open(call: PageCall): Promise<PageResult> {
  const repository = repositoryOfPage(call)
  requireNotArchived(repository)
  const person = { kind: 'person', user: call.visitor.user } as const
  const pull = await openPullRequest(actionOf(call, repository), {
    title: bounded(call.posted.one('title'), maxTitle, 'The title'),
    body: call.posted.one('body')?.slice(0, maxText) ?? null,
    head: bounded(call.posted.one('head'), 255, 'The head branch'),
    base: bounded(call.posted.one('base'), 255, 'The base branch'),
    draft: call.posted.one('draft') === '1',
    seesHead: head => canSee(call.context.state, person, head),
  })
  return { redirect: `/${fullName(call.context.state, repository)}/pull/${pull.number}` }
}

function comment(call: PageCall): PageResult {
  const { repository, pull, at } = subjectOf(call)
  requireNotArchived(repository)
  createComment(actionOf(call, repository), pull.number, bounded(call.posted.one('body'), maxText, 'The comment'))
  return { redirect: at }
}

async function merge(call: PageCall): Promise<PageResult> {
  const { repository, pull, at } = subjectOf(call)
  requirePush(call, repository)
  const expectedHead = call.posted.one('expected_head')
  const asked = call.posted.one('method')
  const method = asked === 'squash' ? 'squash' : 'merge'
  await mergePullRequest(actionOf(call, repository), pull, { method, expectedHead })
  return { redirect: at }
}

function setState(state: PullRequest['state']) {
  return async (call: PageCall): Promise<PageResult> => {
    const { repository, pull, at } = subjectOf(call)
    if (pull.authorId !== call.visitor.user.id) requirePush(call, repository)
    await setPullRequestState(actionOf(call, repository), pull, state)
    return { redirect: at }
  }
}

function changeDraft(draft: boolean) {
  return async (call: PageCall): Promise<PageResult> => {
    const { repository, pull, at } = subjectOf(call)
    if (pull.authorId !== call.visitor.user.id) requirePush(call, repository)
    await setDraft(actionOf(call, repository), pull, draft)
    return { redirect: at }
  }
}

async function deleteBranch(call: PageCall): Promise<PageResult> {
  const { repository, pull, at } = subjectOf(call)
  requirePush(call, repository)
  await deleteHeadBranch(actionOf(call, repository), pull)
  return { redirect: at }
}

export function registerPullRequestPages(server: FastifyInstance, context: ActionContext): void {
  const pages = pagesOf(server, context)
  pages.post('/:owner/:repository/pulls', open)
  pages.get('/:owner/:repository/pull/:number', show)
  pages.post('/:owner/:repository/pull/:number/comments', comment)
  pages.post('/:owner/:repository/pull/:number/merge', merge)
  pages.post('/:owner/:repository/pull/:number/close', setState('closed'))
  pages.post('/:owner/:repository/pull/:number/reopen', setState('open'))
  pages.post('/:owner/:repository/pull/:number/draft', changeDraft(true))
  pages.post('/:owner/:repository/pull/:number/ready', changeDraft(false))
  pages.post('/:owner/:repository/pull/:number/delete-branch', deleteBranch)
}
