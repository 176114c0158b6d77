// Owns: writing, changing and removing comments. The caller has checked the permissions.
import type { User } from '../../state/accounts.ts'
import { timestamp } from '../../state/clock.ts'
import type { IssueComment, Repository } from '../../state/repositories.ts'
import { nextId, pullRequestByNumber } from '../../state/world.ts'
import { commentView, issueOfPullRequest } from '../../views/comment.ts'
import { eventFrame } from '../../views/event-frame.ts'
import type { ActionContext } from '../context.ts'

function tell(
  context: ActionContext,
  repository: Repository,
  comment: IssueComment,
  sender: User,
  action: 'created' | 'edited' | 'deleted',
  changes?: Readonly<Record<string, unknown>>,
): void {
  const pull = pullRequestByNumber(context.world, repository.id, comment.number)
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

export function createComment(
  context: ActionContext,
  repository: Repository,
  number: number,
  author: User,
  body: string,
): IssueComment {
  const at = timestamp(context.now())
  const comment = context.store.change(world => {
    const made: IssueComment = {
      id: nextId(world),
      repositoryId: repository.id,
      number,
      authorId: author.id,
      body,
      createdAt: at,
      updatedAt: at,
    }
    world.comments.push(made)
    return made
  })
  tell(context, repository, comment, author, 'created')
  return comment
}

export function editComment(
  context: ActionContext,
  repository: Repository,
  comment: IssueComment,
  editor: User,
  body: string,
): void {
  const from = comment.body
  context.store.change(() => {
    comment.body = body
    comment.updatedAt = timestamp(context.now())
  })
  tell(context, repository, comment, editor, 'edited', { body: { from } })
}

export function deleteComment(context: ActionContext, repository: Repository, comment: IssueComment, actor: User): void {
  tell(context, repository, comment, actor, 'deleted')
  context.store.change(world => {
    world.comments = world.comments.filter(one => one !== comment)
  })
}
