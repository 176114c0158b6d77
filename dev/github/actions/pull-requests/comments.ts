// Comments on pull requests: written, changed and removed, with the `issue_comment` webhooks.
import { timestamp } from '../../state/clock.ts'
import { nextId, pullRequestByNumber } from '../../state/github-state.ts'
import type { IssueComment } from '../../state/repositories.ts'
import { eventFrame } from '../../views/event-frame.ts'
import { commentView, issueOfPullRequest } from '../../views/pull-requests/comment.ts'
import type { RepositoryAction } from '../context.ts'

function emitComment(
  { context, repository, sender }: RepositoryAction,
  comment: IssueComment,
  action: 'created' | 'edited' | 'deleted',
  changes?: Readonly<Record<string, unknown>>,
): void {
  const pull = pullRequestByNumber(context.state, repository.id, comment.number)
  if (!pull) throw new Error(`comment ${comment.id} is on pull request ${comment.number}, which does not exist`)
  context.webhooks.emit({
    name: 'issue_comment',
    action,
    accountId: repository.ownerId,
    repositoryId: repository.id,
    payload: {
      ...(changes ? { changes } : {}),
      issue: issueOfPullRequest(context, repository, pull),
      comment: commentView(context, comment),
      ...eventFrame(context, repository, sender),
    },
  })
}

/** Adds a comment of the sender to the pull request of this number, which must exist. The pull request is updated by it. */
export function createComment(action: RepositoryAction, number: number, body: string): IssueComment {
  const { context, repository, sender } = action
  const at = timestamp(context.now())
  const comment = context.store.change(state => {
    const made: IssueComment = {
      id: nextId(state),
      repositoryId: repository.id,
      number,
      authorId: sender.id,
      body,
      createdAt: at,
      updatedAt: at,
    }
    state.comments.push(made)
    const pull = pullRequestByNumber(state, repository.id, number)
    if (pull) pull.updatedAt = at
    return made
  })
  emitComment(action, comment, 'created')
  return comment
}

/** Replaces the text. */
export function editComment(action: RepositoryAction, comment: IssueComment, body: string): void {
  const from = comment.body
  action.context.store.change(() => {
    comment.body = body
    comment.updatedAt = timestamp(action.context.now())
  })
  emitComment(action, comment, 'edited', { body: { from } })
}

export function deleteComment(action: RepositoryAction, comment: IssueComment): void {
  emitComment(action, comment, 'deleted')
  action.context.store.change(state => {
    state.comments = state.comments.filter(one => one !== comment)
  })
}
