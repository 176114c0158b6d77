// Reviews of pull requests: submitted, with the `pull_request_review` webhook.
// https://docs.github.com/en/rest/pulls/reviews
import { timestamp } from '../../state/clock.ts'
import { nextId } from '../../state/github-state.ts'
import { Refusal } from '../../state/refusal.ts'
import type { PullRequest, Review, ReviewState } from '../../state/repositories.ts'
import { eventFrame } from '../../views/event-frame.ts'
import { simplePullRequest } from '../../views/pull-requests/pull-request.ts'
import { reviewOfWebhook } from '../../views/pull-requests/review.ts'
import type { RepositoryAction } from '../context.ts'

export type NewReview = {
  readonly state: ReviewState
  readonly body: string
  /** The head that was looked at; the present one when undefined. */
  readonly commitId: string | undefined
}

/** Submits a review of the sender. Nobody approves a pull request of their own. */
export async function submitReview(action: RepositoryAction, pull: PullRequest, wanted: NewReview): Promise<Review> {
  const { context, repository, sender } = action
  if (pull.authorId === sender.id && wanted.state !== 'COMMENTED') {
    const verb = wanted.state === 'APPROVED' ? 'approve' : 'request changes on'
    throw new Refusal(422, `Unprocessable Entity: Can not ${verb} your own pull request`)
  }
  if (wanted.state !== 'APPROVED' && wanted.body === '') throw new Refusal(422, 'Unprocessable Entity: Body can not be blank')
  const commitId = wanted.commitId ?? pull.head.sha
  const known = await context.git.commits(repository.id, pull.base.sha, pull.head.sha, 250)
  if (!known.some(({ sha }) => sha === commitId))
    throw new Refusal(422, 'Unprocessable Entity: The commit_id is not part of the pull request')
  const review = context.store.change((state): Review => {
    const made: Review = {
      id: nextId(state),
      repositoryId: repository.id,
      number: pull.number,
      authorId: sender.id,
      body: wanted.body,
      state: wanted.state,
      commitId,
      submittedAt: timestamp(context.now()),
    }
    state.reviews.push(made)
    pull.updatedAt = made.submittedAt
    return made
  })
  context.webhooks.emit({
    name: 'pull_request_review',
    action: 'submitted',
    accountId: repository.ownerId,
    repositoryId: repository.id,
    payload: {
      review: reviewOfWebhook(context, review),
      pull_request: simplePullRequest(context, pull),
      ...eventFrame(context, repository, sender),
    },
  })
  return review
}
