// The JSON of comments, and of the pull request as the issue to which a comment belongs.

import { fullName, repositoryById, userOf } from '../../state/github-state.ts'
import type { IssueComment, PullRequest, Repository } from '../../state/repositories.ts'
import { simpleUser } from '../account.ts'
import { appOfBot } from '../app.ts'
import { nodeId, type View } from '../view.ts'
import { labelsOf } from './label.ts'
import { authorAssociation } from './pull-request.ts'

/** OpenAPI `reaction-rollup`; `url` is the resource of the reactions. */
function noReactions(url: string) {
  return {
    url: `${url}/reactions`,
    total_count: 0,
    '+1': 0,
    '-1': 0,
    laugh: 0,
    hooray: 0,
    confused: 0,
    heart: 0,
    rocket: 0,
    eyes: 0,
  }
}

/** The `issue` of a webhook about a comment on a pull request. */
export function issueOfPullRequest(context: View, repository: Repository, pull: PullRequest) {
  const { links, state } = context
  const name = fullName(state, repository)
  const url = links.api(`/repos/${name}/issues/${pull.number}`)
  const htmlUrl = links.web(`/${name}/pull/${pull.number}`)
  return {
    url,
    repository_url: links.api(`/repos/${name}`),
    labels_url: `${url}/labels{/name}`,
    comments_url: `${url}/comments`,
    events_url: `${url}/events`,
    html_url: htmlUrl,
    id: pull.id,
    node_id: nodeId('PullRequest', pull.id),
    number: pull.number,
    title: pull.title,
    user: simpleUser(context, userOf(state, pull.authorId)),
    labels: labelsOf(context, pull),
    state: pull.state,
    locked: false,
    assignee: null,
    assignees: [],
    milestone: null,
    comments: state.comments.filter(one => one.repositoryId === repository.id && one.number === pull.number).length,
    created_at: pull.createdAt,
    updated_at: pull.updatedAt,
    closed_at: pull.closedAt,
    author_association: authorAssociation(state, pull.authorId, repository),
    active_lock_reason: null,
    draft: pull.draft,
    pull_request: {
      url: links.api(`/repos/${name}/pulls/${pull.number}`),
      html_url: htmlUrl,
      diff_url: `${htmlUrl}.diff`,
      patch_url: `${htmlUrl}.patch`,
      merged_at: pull.mergedAt,
    },
    body: pull.body,
    reactions: noReactions(url),
  }
}

/** OpenAPI `issue-comment`. */
export function commentView({ links, state }: View, comment: IssueComment) {
  const repository = repositoryById(state, comment.repositoryId)
  if (!repository) throw new Error(`comment ${comment.id} belongs to repository ${comment.repositoryId}, which does not exist`)
  const name = fullName(state, repository)
  const url = links.api(`/repos/${name}/issues/comments/${comment.id}`)
  return {
    id: comment.id,
    node_id: nodeId('IssueComment', comment.id),
    url,
    html_url: links.web(`/${name}/pull/${comment.number}#issuecomment-${comment.id}`),
    body: comment.body,
    user: simpleUser({ links }, userOf(state, comment.authorId)),
    created_at: comment.createdAt,
    updated_at: comment.updatedAt,
    issue_url: links.api(`/repos/${name}/issues/${comment.number}`),
    author_association: authorAssociation(state, comment.authorId, repository),
    performed_via_github_app: appOfBot({ links, state }, comment.authorId),
    reactions: noReactions(url),
  }
}
