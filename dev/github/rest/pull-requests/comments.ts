// The routes about comments on pull requests; on GitHub these are issue comments. https://docs.github.com/en/rest/issues/comments
import { createComment, deleteComment, editComment } from '../../actions/pull-requests/comments.ts'
import { repositoryRole, roleAtLeast } from '../../state/access.ts'
import type { IssueComment } from '../../state/repositories.ts'
import { commentView } from '../../views/pull-requests/comment.ts'
import { created, noContent, notFound, ok, RestError } from '../protocol/answer.ts'
import { fieldsOf } from '../protocol/body.ts'
import { paged } from '../protocol/page.ts'
import { actionOf, type RepositoryCall, type RestRoute, repositoryRoute, writerOf } from '../route.ts'
import { pullOf } from './pull-of.ts'

const maxBody = 65_536

function commentOf({ context, repository, params }: RepositoryCall): IssueComment {
  const found = context.state.comments.find(one => one.repositoryId === repository.id && String(one.id) === params['comment_id'])
  if (!found) throw notFound()
  return found
}

/** Only the author of a comment, or an actor who can write to the repository, may change it. */
function ownCommentOf(call: RepositoryCall): IssueComment {
  const comment = commentOf(call)
  const writer = writerOf(call)
  const role = repositoryRole(call.context.state, writer.id, call.repository)
  if (comment.authorId !== writer.id && !roleAtLeast(role, 'write'))
    throw new RestError(403, 'Must have admin rights to Repository.')
  return comment
}

const reading = { permission: ['issues', 'pull_requests'], level: 'read' } as const
const writing = { permission: ['issues', 'pull_requests'], level: 'write' } as const

export const commentRoutes: readonly RestRoute[] = [
  repositoryRoute(reading, {
    method: 'GET',
    path: '/repos/{owner}/{repo}/issues/{issue_number}/comments',
    handle: call => {
      const { number } = pullOf(call, 'issue_number')
      const found = call.context.state.comments.filter(one => one.repositoryId === call.repository.id && one.number === number)
      return paged(call.paging, found, one => commentView(call.context, one))
    },
  }),
  repositoryRoute(writing, {
    method: 'POST',
    path: '/repos/{owner}/{repo}/issues/{issue_number}/comments',
    handle: call => {
      const body = fieldsOf(call.body, 'IssueComment').text('body', maxBody)
      const view = commentView(call.context, createComment(actionOf(call), pullOf(call, 'issue_number').number, body))
      return created(view, { location: view.url })
    },
  }),
  repositoryRoute(reading, {
    method: 'GET',
    path: '/repos/{owner}/{repo}/issues/comments/{comment_id}',
    handle: call => ok(commentView(call.context, commentOf(call))),
  }),
  repositoryRoute(writing, {
    method: 'PATCH',
    path: '/repos/{owner}/{repo}/issues/comments/{comment_id}',
    handle: call => {
      const comment = ownCommentOf(call)
      editComment(actionOf(call), comment, fieldsOf(call.body, 'IssueComment').text('body', maxBody))
      return ok(commentView(call.context, comment))
    },
  }),
  repositoryRoute(writing, {
    method: 'DELETE',
    path: '/repos/{owner}/{repo}/issues/comments/{comment_id}',
    handle: call => {
      deleteComment(actionOf(call), ownCommentOf(call))
      return noContent
    },
  }),
]
