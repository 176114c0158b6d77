// The routes about reviews of pull requests. https://docs.github.com/en/rest/pulls/reviews
import { submitReview } from '../../actions/pull-requests/reviews.ts'
import { reviewView } from '../../views/pull-requests/review.ts'
import { ok } from '../protocol/answer.ts'
import { fieldsOf } from '../protocol/body.ts'
import { paged } from '../protocol/page.ts'
import { actionOf, type RepositoryCall, type RestRoute, repositoryRoute } from '../route.ts'
import { pullOf } from './pull-of.ts'

const maxBody = 65_536
const path = '/repos/{owner}/{repo}/pulls/{pull_number}/reviews'
const states = { APPROVE: 'APPROVED', REQUEST_CHANGES: 'CHANGES_REQUESTED', COMMENT: 'COMMENTED' } as const

/** Without an event GitHub keeps a pending review, which nobody else sees; here it counts as a comment. */
async function submit(call: RepositoryCall) {
  const fields = fieldsOf(call.body, 'PullRequestReview')
  const event = fields.optionalOneOf('event', ['APPROVE', 'REQUEST_CHANGES', 'COMMENT']) ?? 'COMMENT'
  const review = await submitReview(actionOf(call), pullOf(call), {
    state: states[event],
    body: fields.optionalText('body', maxBody) ?? '',
    commitId: fields.optionalText('commit_id', 40),
  })
  return ok(reviewView(call.context, review))
}

/** Oldest first. */
function list(call: RepositoryCall) {
  const { number } = pullOf(call)
  const found = call.context.state.reviews.filter(one => one.repositoryId === call.repository.id && one.number === number)
  return paged(call.paging, found, one => reviewView(call.context, one))
}

export const reviewRoutes: readonly RestRoute[] = [
  repositoryRoute({ permission: 'pull_requests', level: 'write' }, { method: 'POST', path, handle: submit }),
  repositoryRoute({ permission: 'pull_requests', level: 'read' }, { method: 'GET', path, handle: list }),
]
