// Owns: how comments look in JSON. Pure.
import type { Context } from '../rest/context.ts'
import { nodeId } from './view.ts'
import type { IssueComment } from '../state/repositories.ts'
import { fullName, repositoryById, userOf } from '../state/world.ts'
import { simpleUser } from './account.ts'
import { noReactions } from './issue.ts'
import { authorAssociation } from './pull-request.ts'

/** OpenAPI `issue-comment`. */
export const commentView = ({ links, world }: Pick<Context, 'links' | 'world'>, comment: IssueComment) => {
  const repository = repositoryById(world, comment.repositoryId)
  if (!repository) throw new Error(`comment ${comment.id} belongs to repository ${comment.repositoryId}, which does not exist`)
  const name = fullName(world, repository)
  const url = links.api(`/repos/${name}/issues/comments/${comment.id}`)
  return {
    id: comment.id,
    node_id: nodeId('IssueComment', comment.id),
    url,
    html_url: links.web(`/${name}/pull/${comment.number}#issuecomment-${comment.id}`),
    body: comment.body,
    user: simpleUser({ links }, userOf(world, comment.authorId)),
    created_at: comment.createdAt,
    updated_at: comment.updatedAt,
    issue_url: links.api(`/repos/${name}/issues/${comment.number}`),
    author_association: authorAssociation(world, comment.authorId, repository),
    performed_via_github_app: null,
    reactions: noReactions(url),
  }
}
