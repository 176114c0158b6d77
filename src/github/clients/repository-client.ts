// The client of GitHub with an installation token: reads of branches, pull requests and people. What the token cannot see does
// not exist here (GitHub answers 404).
import { AppError } from '../../lib/errors.ts'
import { isJsonObject } from '../../lib/json/json-value.ts'
import { comparedFiles } from '../compared-files.ts'
import { type Answer, integerAt, listOf, objectAt, optionalTextAt, recordOf, textAt } from '../transport/answer.ts'
import { orUndefined } from '../transport/failure.ts'
import { createTokenRequester, type TokenClientDeps } from '../transport/token-requester.ts'

/** A repository as it is now. The id is the identity; names pass to others. */
export type RepositoryFacts = { readonly id: number; readonly fullName: string; readonly defaultBranch: string }

/** The head of a pull request and the repositories at both ends; `headRepositoryId` is undefined when the fork was deleted. */
export type PullRequestFacts = {
  readonly state: 'open' | 'closed'
  readonly headSha: string
  readonly headRepositoryId: number | undefined
  readonly baseRepositoryId: number
  /** Without refs/heads/. */
  readonly baseBranch: string
  /**
   * Whether head and base can be merged; undefined while GitHub has not computed it, which asking for the pull request causes.
   */
  readonly mergeable: boolean | undefined
  /**
   * What GitHub computed last: of an earlier head or base after a push, and while they conflict. Of a merged pull request, the
   * merge.
   */
  readonly mergeCommit: string | undefined
}

/** A commit as git sees it. */
export type CommitFacts = { readonly tree: string; readonly parents: readonly string[] }

/** `name`: its present one. `skips`: the message of the commit asks that nothing is built of it. */
export type BranchHead = { readonly name: string; readonly commit: string; readonly skips: boolean }

/** GitHub's roles on a repository, lowest first. */
export type RepositoryPermission = 'none' | 'read' | 'triage' | 'write' | 'maintain' | 'admin'

/**
 * Repositories are named by id, on the addresses to which GitHub itself redirects and links: a name can pass to a repository of
 * somebody else, which every token can read if it is public. All methods throw AppError: see failure.ts for codes and reasons.
 */
export type RepositoryClient = {
  /** undefined when there is no such repository (any more). Throws `integrity_violation` when GitHub answers with another one. */
  readonly repository: (id: number) => Promise<RepositoryFacts | undefined>
  /** The commit that a branch points to; undefined when there is no such repository or branch. */
  readonly branch: (repositoryId: number, name: string) => Promise<string | undefined>
  /**
   * A branch as it is now, also by the name that it had before GitHub renamed it; undefined when there is no such repository or
   * branch.
   */
  readonly branchHead: (repositoryId: number, name: string) => Promise<BranchHead | undefined>
  /** undefined when there is no such repository or pull request. */
  readonly pullRequest: (repositoryId: number, number: number) => Promise<PullRequestFacts | undefined>
  /**
   * undefined when there is no such repository or commit. GitHub serves the commits of all forks through every repository of
   * their network. Throws `integrity_violation` when GitHub answers with another one.
   */
  readonly commit: (repositoryId: number, sha: string) => Promise<CommitFacts | undefined>
  /**
   * Whether the commit belongs to the repository itself: it is the newest commit of a branch, or the given branch leads to it.
   * GitHub serves the commits of all forks through every repository of their network, so that a commit's existence says
   * nothing.
   */
  readonly hasCommit: (repositoryId: number, commit: string, branch: string) => Promise<boolean>
  /**
   * The paths of the files that differ between a commit and a later one, with the former paths of renamed files. undefined when
   * GitHub does not list them all, or when the one commit does not follow from the other.
   */
  readonly changedFiles: (repositoryId: number, from: string, to: string) => Promise<readonly string[] | undefined>
  /** A person's permission on the repository, with the person's id to compare: a login can come to mean another person. */
  readonly collaboratorPermission: (
    repositoryId: number,
    login: string,
  ) => Promise<{ readonly permission: RepositoryPermission; readonly userId: number }>
  /** undefined when there is no such person (any more). */
  readonly userById: (id: number) => Promise<{ readonly id: number; readonly login: string } | undefined>
}

const root = 'GET /repositories/{repository_id}'

/** A client for one token, which may be seconds old. */
export function createRepositoryClient(deps: TokenClientDeps): RepositoryClient {
  const requester = createTokenRequester(deps, { fresh: true })
  const get = <T>(route: string, parameters: Readonly<Record<string, string | number>>, read: (answer: Answer) => T) =>
    orUndefined(() => requester.get(route, parameters, data => read(recordOf(data, route))))

  const leadsTo = async (repositoryId: number, branch: string, commit: string): Promise<boolean> => {
    // The second page of one commit each: the comparison without its commits and files.
    const parameters = { repository_id: repositoryId, basehead: `${branch}...${commit}`, per_page: 1, page: 2 }
    const status = await get(`${root}/compare/{basehead}`, parameters, answer => textAt(answer, 'status', 'comparison'))
    return status === 'behind' || status === 'identical'
  }
  const isHead = async (repositoryId: number, commit: string): Promise<boolean> => {
    const route = `${root}/commits/{commit_sha}/branches-where-head`
    const parameters = { repository_id: repositoryId, commit_sha: commit }
    const branches = await orUndefined(() => requester.get(route, parameters, data => listOf(data, 'branches').length))
    return branches !== undefined && branches > 0
  }

  /** GitHub redirects from the former name of a branch. */
  const branchHead = (repositoryId: number, name: string): Promise<BranchHead | undefined> =>
    get(`${root}/branches/{branch}`, { repository_id: repositoryId, branch: name }, branchFacts)

  return {
    async repository(id) {
      const found = await get(root, { repository_id: id }, repositoryFacts)
      if (found === undefined || found.id === id) return found
      throw new AppError('integrity_violation', `GitHub answered with repository ${found.id} instead of ${id}`)
    },
    branch: async (repositoryId, name) => (await branchHead(repositoryId, name))?.commit,
    branchHead,
    pullRequest: (repositoryId, number) =>
      get(`${root}/pulls/{pull_number}`, { repository_id: repositoryId, pull_number: number }, pullRequestFacts),
    async commit(repositoryId, sha) {
      const parameters = { repository_id: repositoryId, commit_sha: sha }
      const found = await get(`${root}/git/commits/{commit_sha}`, parameters, commitFacts)
      if (found === undefined || found.sha === sha) return found
      throw new AppError('integrity_violation', `GitHub answered with commit ${found.sha} instead of ${sha}`)
    },
    async hasCommit(repositoryId, commit, branch) {
      return (await leadsTo(repositoryId, branch, commit)) || (await isHead(repositoryId, commit))
    },
    changedFiles: (repositoryId, from, to) =>
      get(`${root}/compare/{basehead}`, { repository_id: repositoryId, basehead: `${from}...${to}`, per_page: 1 }, changedPaths),
    async collaboratorPermission(repositoryId, login) {
      const parameters = { repository_id: repositoryId, username: login }
      const found = await get(`${root}/collaborators/{username}/permission`, parameters, answer => ({
        permission: permissionIn(answer),
        userId: integerAt(objectAt(answer, 'user', 'permission'), 'id', 'user'),
      }))
      return found ?? { permission: 'none', userId: 0 }
    },
    userById: id =>
      get('GET /user/{account_id}', { account_id: id }, answer => ({
        id: integerAt(answer, 'id', 'user'),
        login: textAt(answer, 'login', 'user'),
      })),
  }
}

function changedPaths(answer: Answer): readonly string[] | undefined {
  const status = textAt(answer, 'status', 'comparison')
  if (status === 'identical') return []
  return status === 'ahead' ? comparedFiles(answer) : undefined
}

function repositoryFacts(answer: Answer): RepositoryFacts {
  return {
    id: integerAt(answer, 'id', 'repository'),
    fullName: textAt(answer, 'full_name', 'repository'),
    defaultBranch: textAt(answer, 'default_branch', 'repository'),
  }
}

/**
 * As GitHub's own workflows read it.
 * Source: https://docs.github.com/en/actions/how-tos/manage-workflow-runs/skip-workflow-runs
 */
const skipMark = /\[(skip ci|ci skip|no ci|skip actions|actions skip)\]/i

function branchFacts(answer: Answer): BranchHead {
  const commit = objectAt(answer, 'commit', 'branch')
  const message = isJsonObject(commit['commit']) ? optionalTextAt(commit['commit'], 'message', 'branch.commit.commit') : undefined
  return {
    commit: textAt(commit, 'sha', 'branch.commit'),
    name: textAt(answer, 'name', 'branch'),
    skips: message !== undefined && skipMark.test(message),
  }
}

function pullRequestFacts(answer: Answer): PullRequestFacts {
  const head = objectAt(answer, 'head', 'pull request')
  const base = objectAt(answer, 'base', 'pull request')
  const { mergeable } = answer
  return {
    state: textAt(answer, 'state', 'pull request') === 'open' ? 'open' : 'closed',
    headSha: textAt(head, 'sha', 'head'),
    headRepositoryId: isJsonObject(head['repo']) ? integerAt(head['repo'], 'id', 'head.repo') : undefined,
    baseRepositoryId: integerAt(objectAt(base, 'repo', 'base'), 'id', 'base.repo'),
    baseBranch: textAt(base, 'ref', 'base'),
    mergeable: typeof mergeable === 'boolean' ? mergeable : undefined,
    mergeCommit: optionalTextAt(answer, 'merge_commit_sha', 'pull request'),
  }
}

function commitFacts(answer: Answer): CommitFacts & { readonly sha: string } {
  const parents = listOf(answer['parents'], 'commit.parents')
  return {
    sha: textAt(answer, 'sha', 'commit'),
    tree: textAt(objectAt(answer, 'tree', 'commit'), 'sha', 'commit.tree'),
    parents: parents.map(parent => textAt(recordOf(parent, 'commit.parents'), 'sha', 'commit.parents')),
  }
}

const permissions: readonly string[] = ['read', 'triage', 'write', 'maintain', 'admin'] satisfies RepositoryPermission[]

/** `role_name` is finer but may be a custom role; `permission` is always one of GitHub's four. */
function permissionIn(answer: Answer): RepositoryPermission {
  const role = optionalTextAt(answer, 'role_name', 'permission')
  const level = role !== undefined && permissions.includes(role) ? role : textAt(answer, 'permission', 'permission')
  return permissions.includes(level) ? (level as RepositoryPermission) : 'none'
}
