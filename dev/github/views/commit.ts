// The JSON of commits, in REST and in push events. An author is a user of this GitHub when their e-mail address is one of its
// users'.
import type { Commit, Signature } from '../git/commit.ts'
import type { User } from '../state/accounts.ts'
import { fullName } from '../state/github-state.ts'
import type { Repository } from '../state/repositories.ts'
import { simpleUser } from './account.ts'
import { nodeId, type View } from './view.ts'

function personOf({ state }: View, signature: Signature): User | undefined {
  return state.users.find(user => user.email.toLowerCase() === signature.email.toLowerCase())
}

/** OpenAPI `commit`. */
export function commitView(view: View, repository: Repository, commit: Commit) {
  const name = fullName(view.state, repository)
  const url = view.links.api(`/repos/${name}/commits/${commit.sha}`)
  const account = (signature: Signature) => {
    const user = personOf(view, signature)
    return user ? simpleUser(view, user) : null
  }
  return {
    sha: commit.sha,
    node_id: nodeId('Commit', `${repository.id}:${commit.sha}`),
    commit: {
      author: commit.author,
      committer: commit.committer,
      message: commit.message,
      tree: { sha: commit.treeSha, url: view.links.api(`/repos/${name}/git/trees/${commit.treeSha}`) },
      url: view.links.api(`/repos/${name}/git/commits/${commit.sha}`),
      comment_count: 0,
      verification: { verified: false, reason: 'unsigned', signature: null, payload: null, verified_at: null },
    },
    url,
    html_url: view.links.web(`/${name}/commit/${commit.sha}`),
    comments_url: `${url}/comments`,
    author: account(commit.author),
    committer: account(commit.committer),
    parents: commit.parents.map(sha => ({
      sha,
      url: view.links.api(`/repos/${name}/commits/${sha}`),
      html_url: view.links.web(`/${name}/commit/${sha}`),
    })),
  }
}

/** OpenAPI `git-commit`. */
export function gitCommitView(view: View, repository: Repository, commit: Commit) {
  const { sha, node_id, html_url, commit: inner } = commitView(view, repository, commit)
  const { author, committer, message, tree, url, verification } = inner
  const at = (parent: string) => view.links.api(`/repos/${fullName(view.state, repository)}/git/commits/${parent}`)
  const web = (parent: string) => view.links.web(`/${fullName(view.state, repository)}/commit/${parent}`)
  const parents = commit.parents.map(parent => ({ sha: parent, url: at(parent), html_url: web(parent) }))
  return { sha, node_id, url, html_url, author, committer, tree, message, parents, verification }
}

/** A commit in a push event. */
export function pushedCommit(view: View, repository: Repository, commit: Commit) {
  const signature = (one: Signature) => {
    const user = personOf(view, one)
    return { name: one.name, email: one.email, date: one.date, ...(user ? { username: user.login } : {}) }
  }
  return {
    id: commit.sha,
    tree_id: commit.treeSha,
    distinct: true,
    message: commit.message,
    timestamp: commit.committer.date,
    url: view.links.web(`/${fullName(view.state, repository)}/commit/${commit.sha}`),
    author: signature(commit.author),
    committer: signature(commit.committer),
    added: [],
    removed: [],
    modified: [],
  }
}
