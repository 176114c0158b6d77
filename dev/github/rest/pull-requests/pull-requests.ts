// The routes about pull requests. https://docs.github.com/en/rest/pulls/pulls
import { pullRequestFacts } from '../../actions/pull-requests/facts.ts'
import { mergePullRequest } from '../../actions/pull-requests/merge.ts'
import { requestTest } from '../../actions/pull-requests/merge-test.ts'
import { editPullRequest, openPullRequest, setPullRequestState } from '../../actions/pull-requests/pull-requests.ts'
import { canSee, repositoryRole, roleAtLeast } from '../../state/access.ts'
import { accountOf, repositoryById } from '../../state/github-state.ts'
import type { PullRequest } from '../../state/repositories.ts'
import { fullPullRequest, simplePullRequest } from '../../views/pull-requests/pull-request.ts'
import { created, notAccessible, ok } from '../protocol/answer.ts'
import { fieldsOf } from '../protocol/body.ts'
import { paged } from '../protocol/page.ts'
import { actionOf, type RepositoryCall, type RestRoute, repositoryRoute } from '../route.ts'
import { pullOf } from './pull-of.ts'

const maxTitle = 256
const maxBody = 65_536

async function full(call: RepositoryCall, pull: PullRequest) {
  return fullPullRequest(call.context, pull, await pullRequestFacts(call.context, pull))
}

/** The answer says what was known when the request came; the next one knows what this one caused. */
async function show(call: RepositoryCall) {
  const pull = pullOf(call)
  const body = await full(call, pull)
  await requestTest(call.context, pull)
  return ok(body)
}

/** `owner:branch` of the head; the head of a deleted fork has no owner. */
function labelOf({ context: { state } }: RepositoryCall, pull: PullRequest): string {
  const from = repositoryById(state, pull.head.repositoryId)
  return `${from ? accountOf(state, from.ownerId).login : 'unknown'}:${pull.head.ref}`
}

function list(call: RepositoryCall) {
  const { context, repository, query } = call
  const state = query.get('state') ?? 'open'
  const head = query.get('head')
  const base = query.get('base')
  const found = context.state.pullRequests
    .filter(one => one.repositoryId === repository.id)
    .filter(one => state === 'all' || one.state === state)
    .filter(one => head === null || head === labelOf(call, one))
    .filter(one => base === null || base === one.base.ref)
  const sorted = query.get('sort') === 'updated' ? found.sort((a, b) => Date.parse(a.updatedAt) - Date.parse(b.updatedAt)) : found
  // Newest first is the default of `created` only. https://docs.github.com/en/rest/pulls/pulls#list-pull-requests
  const direction = query.get('direction') ?? ((query.get('sort') ?? 'created') === 'created' ? 'desc' : 'asc')
  return paged(call.paging, direction === 'desc' ? sorted.reverse() : sorted, one => simplePullRequest(context, one))
}

async function open(call: RepositoryCall) {
  const fields = fieldsOf(call.body, 'PullRequest')
  const pull = await openPullRequest(actionOf(call), {
    title: fields.text('title', maxTitle),
    body: fields.optionalText('body', maxBody) ?? null,
    head: fields.text('head', 255),
    seesHead: repository => canSee(call.context.state, call.actor, repository),
    base: fields.text('base', 255),
    draft: fields.optionalBoolean('draft') ?? false,
  })
  const body = await full(call, pull)
  return created(body, { location: body.url })
}

/** A person with read access only may change their own pull requests only. */
function requireAuthorOrWriter({ actor, context, repository }: RepositoryCall, pull: PullRequest): void {
  if ((actor.kind !== 'user' && actor.kind !== 'person') || pull.authorId === actor.user.id) return
  if (!roleAtLeast(repositoryRole(context.state, actor.user.id, repository), 'write')) throw notAccessible()
}

async function update(call: RepositoryCall) {
  const pull = pullOf(call)
  requireAuthorOrWriter(call, pull)
  const fields = fieldsOf(call.body, 'PullRequest')
  const change = {
    title: fields.optionalText('title', maxTitle),
    body: fields.optionalText('body', maxBody),
    base: fields.optionalText('base', 255),
  }
  const state = fields.optionalOneOf('state', ['open', 'closed'])
  await editPullRequest(actionOf(call), pull, change)
  if (state !== undefined) await setPullRequestState(actionOf(call), pull, state)
  return ok(await full(call, pull))
}

async function merge(call: RepositoryCall) {
  const fields = fieldsOf(call.body, 'PullRequest')
  const sha = await mergePullRequest(actionOf(call), pullOf(call), {
    method: fields.optionalOneOf('merge_method', ['merge', 'squash']) ?? 'merge',
    expectedHead: fields.optionalText('sha', 40),
    title: fields.optionalText('commit_title', maxTitle),
    message: fields.optionalText('commit_message', maxBody),
  })
  return ok({ sha, merged: true, message: 'Pull Request successfully merged' })
}

const reading = { permission: 'pull_requests', level: 'read' } as const
const writing = { permission: 'pull_requests', level: 'write' } as const

export const pullRequestRoutes: readonly RestRoute[] = [
  repositoryRoute(reading, { method: 'GET', path: '/repos/{owner}/{repo}/pulls', handle: list }),
  repositoryRoute(writing, { method: 'POST', path: '/repos/{owner}/{repo}/pulls', handle: open }),
  repositoryRoute(reading, {
    method: 'GET',
    path: '/repos/{owner}/{repo}/pulls/{pull_number}',
    handle: show,
  }),
  repositoryRoute(writing, { method: 'PATCH', path: '/repos/{owner}/{repo}/pulls/{pull_number}', handle: update }),
  repositoryRoute(
    { permission: 'contents', level: 'write' },
    { method: 'PUT', path: '/repos/{owner}/{repo}/pulls/{pull_number}/merge', handle: merge },
  ),
]
