// The JSON of pull requests. The caller passes in what comes from git (commits, lines, mergeability).
import { membershipOf, repositoryRole } from '../../state/access.ts'
import { accountOf, fullName, type GitHubState, organizationById, repositoryById, userOf } from '../../state/github-state.ts'
import type { PullRequest, Repository } from '../../state/repositories.ts'
import { simpleUser } from '../account.ts'
import { repositoryView } from '../repository.ts'
import { nodeId, type View } from '../view.ts'
import { labelsOf } from './label.ts'

export type PullRequestFacts = {
  readonly mergeable: boolean | null
  readonly commits: number
  readonly additions: number
  readonly deletions: number
  readonly changedFiles: number
}

function repositoryOf(view: View, id: number): Repository {
  const repository = repositoryById(view.state, id)
  if (!repository) throw new Error(`repository ${id} does not exist but another entity refers to it`)
  return repository
}

/** GitHub's `author_association` of a user with a repository. */
export function authorAssociation(state: GitHubState, userId: number, repository: Repository): string {
  if (repository.ownerId === userId) return 'OWNER'
  const organization = organizationById(state, repository.ownerId)
  if (organization && membershipOf(organization, userId)?.state === 'active') return 'MEMBER'
  return repositoryRole(state, userId, repository) === 'none' ? 'NONE' : 'COLLABORATOR'
}

/** One end of a pull request; the repository of a deleted fork is `null`. */
function branchOf(view: View, repository: Repository | undefined, branch: { readonly ref: string; readonly sha: string }) {
  if (!repository) return { label: `unknown:${branch.ref}`, ref: branch.ref, sha: branch.sha, user: null, repo: null }
  const owner = accountOf(view.state, repository.ownerId)
  return {
    label: `${owner.login}:${branch.ref}`,
    ref: branch.ref,
    sha: branch.sha,
    user: simpleUser(view, owner),
    repo: repositoryView(view, repository),
  }
}

/** OpenAPI `pull-request-simple`. */
export function simplePullRequest(view: View, pull: PullRequest) {
  const repository = repositoryOf(view, pull.repositoryId)
  const name = fullName(view.state, repository)
  const url = view.links.api(`/repos/${name}/pulls/${pull.number}`)
  const issueUrl = view.links.api(`/repos/${name}/issues/${pull.number}`)
  const htmlUrl = view.links.web(`/${name}/pull/${pull.number}`)
  const statusesUrl = view.links.api(`/repos/${name}/statuses/${pull.head.sha}`)
  return {
    url,
    id: pull.id,
    node_id: nodeId('PullRequest', pull.id),
    html_url: htmlUrl,
    diff_url: `${htmlUrl}.diff`,
    patch_url: `${htmlUrl}.patch`,
    issue_url: issueUrl,
    number: pull.number,
    state: pull.state,
    locked: false,
    title: pull.title,
    user: simpleUser(view, userOf(view.state, pull.authorId)),
    body: pull.body,
    created_at: pull.createdAt,
    updated_at: pull.updatedAt,
    closed_at: pull.closedAt,
    merged_at: pull.mergedAt,
    merge_commit_sha: pull.mergeCommitSha ?? pull.mergeTest?.commit ?? null,
    assignee: null,
    assignees: [],
    requested_reviewers: [],
    requested_teams: [],
    labels: labelsOf(view, pull),
    milestone: null,
    draft: pull.draft,
    commits_url: `${url}/commits`,
    review_comments_url: `${url}/comments`,
    review_comment_url: view.links.api(`/repos/${name}/pulls/comments{/number}`),
    comments_url: `${issueUrl}/comments`,
    statuses_url: statusesUrl,
    head: branchOf(view, repositoryById(view.state, pull.head.repositoryId), pull.head),
    base: branchOf(view, repository, pull.base),
    _links: {
      self: { href: url },
      html: { href: htmlUrl },
      issue: { href: issueUrl },
      comments: { href: `${issueUrl}/comments` },
      review_comments: { href: `${url}/comments` },
      review_comment: { href: view.links.api(`/repos/${name}/pulls/comments{/number}`) },
      commits: { href: `${url}/commits` },
      statuses: { href: statusesUrl },
    },
    author_association: authorAssociation(view.state, pull.authorId, repository),
    auto_merge: null,
    active_lock_reason: null,
  }
}

/** Whether the latest status of every context has succeeded; also true for a commit without any. */
function headIsSound(state: GitHubState, repositoryId: number, sha: string): boolean {
  const newestFirst = state.statuses.filter(one => one.repositoryId === repositoryId && one.sha === sha).reverse()
  const latest = newestFirst.filter((one, at) => newestFirst.findIndex(other => other.context === one.context) === at)
  return latest.every(one => one.state === 'success')
}

/** GitHub's `mergeable_state`. */
function mergeableState(state: GitHubState, pull: PullRequest, facts: PullRequestFacts): string {
  if (facts.mergeable === null) return 'unknown'
  if (!facts.mergeable) return 'dirty'
  if (pull.draft) return 'draft'
  return headIsSound(state, pull.repositoryId, pull.head.sha) ? 'clean' : 'unstable'
}

/** OpenAPI `pull-request`. */
export function fullPullRequest(view: View, pull: PullRequest, facts: PullRequestFacts) {
  return {
    ...simplePullRequest(view, pull),
    merged: pull.mergedAt !== null,
    mergeable: facts.mergeable,
    rebaseable: facts.mergeable,
    mergeable_state: mergeableState(view.state, pull, facts),
    merged_by: pull.mergedById === null ? null : simpleUser(view, userOf(view.state, pull.mergedById)),
    comments: view.state.comments.filter(one => one.repositoryId === pull.repositoryId && one.number === pull.number).length,
    review_comments: 0,
    maintainer_can_modify: false,
    commits: facts.commits,
    additions: facts.additions,
    deletions: facts.deletions,
    changed_files: facts.changedFiles,
  }
}
