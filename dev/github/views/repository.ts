// The JSON of repositories. The many `_url` fields are templates that clients expand.
import { type Actor, canSee, permissionOn, repositoryRole } from '../state/access.ts'
import { accountOf, fullName, type GitHubState } from '../state/github-state.ts'
import type { Repository } from '../state/repositories.ts'
import { simpleUser } from './account.ts'
import { roleFlags } from './role.ts'
import { nodeId, type View } from './view.ts'

function templates(url: string) {
  return {
    forks_url: `${url}/forks`,
    keys_url: `${url}/keys{/key_id}`,
    collaborators_url: `${url}/collaborators{/collaborator}`,
    teams_url: `${url}/teams`,
    hooks_url: `${url}/hooks`,
    issue_events_url: `${url}/issues/events{/number}`,
    events_url: `${url}/events`,
    assignees_url: `${url}/assignees{/user}`,
    branches_url: `${url}/branches{/branch}`,
    tags_url: `${url}/tags`,
    blobs_url: `${url}/git/blobs{/sha}`,
    git_tags_url: `${url}/git/tags{/sha}`,
    git_refs_url: `${url}/git/refs{/sha}`,
    trees_url: `${url}/git/trees{/sha}`,
    statuses_url: `${url}/statuses/{sha}`,
    languages_url: `${url}/languages`,
    stargazers_url: `${url}/stargazers`,
    contributors_url: `${url}/contributors`,
    subscribers_url: `${url}/subscribers`,
    subscription_url: `${url}/subscription`,
    commits_url: `${url}/commits{/sha}`,
    git_commits_url: `${url}/git/commits{/sha}`,
    comments_url: `${url}/comments{/number}`,
    issue_comment_url: `${url}/issues/comments{/number}`,
    contents_url: `${url}/contents/{+path}`,
    compare_url: `${url}/compare/{base}...{head}`,
    merges_url: `${url}/merges`,
    archive_url: `${url}/{archive_format}{/ref}`,
    downloads_url: `${url}/downloads`,
    issues_url: `${url}/issues{/number}`,
    pulls_url: `${url}/pulls{/number}`,
    milestones_url: `${url}/milestones{/number}`,
    notifications_url: `${url}/notifications{?since,all,participating}`,
    labels_url: `${url}/labels{/name}`,
    releases_url: `${url}/releases{/id}`,
    deployments_url: `${url}/deployments`,
  }
}

/** OpenAPI `minimal-repository` without its optional fields. */
export function minimalRepository({ links, state }: View, repository: Repository) {
  const name = fullName(state, repository)
  const url = links.api(`/repos/${name}`)
  return {
    id: repository.id,
    node_id: nodeId('Repository', repository.id),
    name: repository.name,
    full_name: name,
    private: repository.private,
    owner: simpleUser({ links }, accountOf(state, repository.ownerId)),
    html_url: links.web(`/${name}`),
    description: repository.description,
    fork: repository.parentId !== null,
    url,
    ...templates(url),
  }
}

/** OpenAPI `repository`. */
export function repositoryView(view: View, repository: Repository) {
  const minimal = minimalRepository(view, repository)
  const web = new URL(view.links.webUrl)
  const forks = view.state.repositories.filter(one => one.parentId === repository.id).length
  const open = view.state.pullRequests.filter(one => one.repositoryId === repository.id && one.state === 'open').length
  return {
    ...minimal,
    created_at: repository.createdAt,
    updated_at: repository.updatedAt,
    pushed_at: repository.pushedAt,
    git_url: `git://${web.host}/${minimal.full_name}.git`,
    ssh_url: `git@${web.hostname}:${minimal.full_name}.git`,
    clone_url: `${minimal.html_url}.git`,
    svn_url: minimal.html_url,
    homepage: null,
    size: 0,
    stargazers_count: 0,
    watchers_count: 0,
    language: null,
    has_issues: true,
    has_projects: false,
    has_downloads: true,
    has_wiki: false,
    has_pages: false,
    has_discussions: false,
    forks_count: forks,
    mirror_url: null,
    archived: repository.archived,
    disabled: false,
    open_issues_count: open,
    license: null,
    allow_forking: true,
    is_template: false,
    web_commit_signoff_required: false,
    topics: [],
    visibility: repository.private ? 'private' : 'public',
    forks,
    open_issues: open,
    watchers: 0,
    default_branch: repository.defaultBranch,
  }
}

/** What the actor may do with the repository, as GitHub's five flags. */
export function permissionFlags(state: GitHubState, actor: Actor, repository: Repository) {
  if (actor.kind === 'installation') {
    const write = permissionOn(state, actor, repository, 'contents') === 'write'
    return { admin: false, maintain: false, push: write, triage: false, pull: true }
  }
  const role = actor.kind === 'user' || actor.kind === 'person' ? repositoryRole(state, actor.user.id, repository) : 'none'
  return { ...roleFlags(role), pull: !repository.private || role !== 'none' }
}

/** The parent of a fork, as far as the actor may see it. */
function familyOf(view: View, actor: Actor, repository: Repository) {
  const parent = view.state.repositories.find(one => one.id === repository.parentId)
  if (!parent || !canSee(view.state, actor, parent)) return {}
  let source = parent
  for (let above: Repository | undefined = parent; above; ) {
    source = above
    const { parentId }: Repository = above
    above = view.state.repositories.find(one => one.id === parentId)
  }
  return {
    parent: repositoryView(view, parent),
    ...(canSee(view.state, actor, source) ? { source: repositoryView(view, source) } : {}),
  }
}

/** OpenAPI `full-repository`, as the actor sees it. */
export function fullRepository(view: View, actor: Actor, repository: Repository) {
  return {
    ...repositoryView(view, repository),
    permissions: permissionFlags(view.state, actor, repository),
    allow_squash_merge: true,
    allow_merge_commit: true,
    allow_rebase_merge: false,
    delete_branch_on_merge: false,
    network_count: 0,
    subscribers_count: 0,
    ...familyOf(view, actor, repository),
  }
}
