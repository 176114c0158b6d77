// Owns: how a pull request looks where GitHub shows it as the issue that it also is, and the count of reactions, of which there are none.
// Pure.
import type { Context } from '../rest/context.ts'
import { nodeId } from './view.ts'
import type { PullRequest, Repository } from '../state/repositories.ts'
import { fullName, userOf } from '../state/world.ts'
import { simpleUser } from './account.ts'
import { authorAssociation } from './pull-request.ts'

/** OpenAPI `reaction-rollup`; `url` is the resource that is reacted to. */
export const noReactions = (url: string) => ({
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
})

/** The `issue` of a webhook about a comment on a pull request. */
export const issueOfPullRequest = (context: Pick<Context, 'links' | 'world'>, repository: Repository, pull: PullRequest) => {
  const { links, world } = context
  const name = fullName(world, repository)
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
    user: simpleUser(context, userOf(world, pull.authorId)),
    labels: [],
    state: pull.state,
    locked: false,
    assignee: null,
    assignees: [],
    milestone: null,
    comments: world.comments.filter(one => one.repositoryId === repository.id && one.number === pull.number).length,
    created_at: pull.createdAt,
    updated_at: pull.updatedAt,
    closed_at: pull.closedAt,
    author_association: authorAssociation(world, pull.authorId, repository),
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
