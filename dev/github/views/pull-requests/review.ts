// The JSON of reviews of pull requests, in REST and in webhooks, which differ in a few fields.
import { fullName, repositoryById, userOf } from '../../state/github-state.ts'
import type { Review } from '../../state/repositories.ts'
import { simpleUser } from '../account.ts'
import { nodeId, type View } from '../view.ts'
import { authorAssociation } from './pull-request.ts'

/** OpenAPI `pull-request-review`. */
export function reviewView(view: View, review: Review) {
  const { links, state } = view
  const repository = repositoryById(state, review.repositoryId)
  if (!repository) throw new Error(`review ${review.id} belongs to repository ${review.repositoryId}, which does not exist`)
  const name = fullName(state, repository)
  const htmlUrl = links.web(`/${name}/pull/${review.number}#pullrequestreview-${review.id}`)
  const pullRequestUrl = links.api(`/repos/${name}/pulls/${review.number}`)
  return {
    id: review.id,
    node_id: nodeId('PullRequestReview', review.id),
    user: simpleUser(view, userOf(state, review.authorId)),
    body: review.body,
    state: review.state,
    html_url: htmlUrl,
    pull_request_url: pullRequestUrl,
    author_association: authorAssociation(state, review.authorId, repository),
    _links: { html: { href: htmlUrl }, pull_request: { href: pullRequestUrl } },
    submitted_at: review.submittedAt,
    commit_id: review.commitId,
  }
}

/** The `review` of a webhook: its state is in lower case there. */
export function reviewOfWebhook(view: View, review: Review) {
  return { ...reviewView(view, review), state: review.state.toLowerCase(), updated_at: review.submittedAt }
}
