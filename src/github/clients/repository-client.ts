// The client of GitHub with an installation token: reads of branches, pull requests and people. What the token cannot see does not exist
// here (GitHub answers 404), so that one tenant's names never mean another tenant's repositories.
import { isAppError } from '../../lib/errors.ts'
import { type Answer, integerAt, objectAt, optionalTextAt, recordOf, textAt } from '../transport/answer.ts'
import { githubReasons } from '../transport/failure.ts'
import { createTokenRequester, type TokenClientDeps } from '../transport/token-requester.ts'

/** The commit of the pull request's head, and the repository that it is opened against. */
export type PullRequestFacts = { readonly headSha: string; readonly baseRepositoryId: number }

/** GitHub's roles on a repository, lowest first. */
export type RepositoryPermission = 'none' | 'read' | 'triage' | 'write' | 'maintain' | 'admin'

/** Repositories are named `owner/name`. All methods throw AppError: see failure.ts for codes and reasons. */
export type RepositoryClient = {
  /** The commit that a branch points to; undefined when there is no such repository or branch. */
  readonly branch: (repository: string, name: string) => Promise<string | undefined>
  /** undefined when there is no such repository or pull request. */
  readonly pullRequest: (repository: string, number: number) => Promise<PullRequestFacts | undefined>
  /** A person's permission on the repository, with the person's id to compare: a login can come to mean another person. */
  readonly collaboratorPermission: (
    repository: string,
    login: string,
  ) => Promise<{ readonly permission: RepositoryPermission; readonly userId: number }>
  /** undefined when there is no such person (any more). */
  readonly userById: (id: number) => Promise<{ readonly id: number; readonly login: string } | undefined>
}

/** A client for one token, which may be seconds old. */
export function createRepositoryClient(deps: TokenClientDeps): RepositoryClient {
  const requester = createTokenRequester(deps, { fresh: true })
  const get = (route: string, parameters: Readonly<Record<string, unknown>>): Promise<Answer | undefined> =>
    orUndefined(async () => recordOf((await requester.request(`GET ${route}`, parameters)).data, route))

  return {
    async branch(repository, name) {
      const answer = await get('/repos/{owner}/{repo}/branches/{branch}', { ...ownerAndName(repository), branch: name })
      return answer && textAt(objectAt(answer, 'commit', 'branch'), 'sha', 'branch.commit')
    },
    async pullRequest(repository, number) {
      const answer = await get('/repos/{owner}/{repo}/pulls/{pull_number}', { ...ownerAndName(repository), pull_number: number })
      return answer && pullRequestFacts(answer)
    },
    async collaboratorPermission(repository, login) {
      const parameters = { ...ownerAndName(repository), username: login }
      const answer = await get('/repos/{owner}/{repo}/collaborators/{username}/permission', parameters)
      if (answer === undefined) return { permission: 'none', userId: 0 }
      return { permission: permissionIn(answer), userId: integerAt(objectAt(answer, 'user', 'permission'), 'id', 'user') }
    },
    async userById(id) {
      const answer = await get('/user/{account_id}', { account_id: id })
      return answer && { id: integerAt(answer, 'id', 'user'), login: textAt(answer, 'login', 'user') }
    },
  }
}

async function orUndefined<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    // A refused read finds nothing: 409 for an empty repository, 451 for a blocked one.
    if (isAppError(error, 'not_found') || (isAppError(error) && error.reason === githubReasons.requestRefused)) return undefined
    throw error
  }
}

function ownerAndName(fullName: string): { readonly owner: string; readonly repo: string } {
  const [owner = '', repo = ''] = fullName.split('/')
  return { owner, repo }
}

function pullRequestFacts(answer: Answer): PullRequestFacts {
  const base = objectAt(objectAt(answer, 'base', 'pull request'), 'repo', 'base')
  return {
    headSha: textAt(objectAt(answer, 'head', 'pull request'), 'sha', 'head'),
    baseRepositoryId: integerAt(base, 'id', 'base.repo'),
  }
}

const permissions: readonly string[] = ['read', 'triage', 'write', 'maintain', 'admin'] satisfies RepositoryPermission[]

/** `role_name` is finer but may be a custom role; `permission` is always one of GitHub's four. */
function permissionIn(answer: Answer): RepositoryPermission {
  const role = optionalTextAt(answer, 'role_name', 'permission')
  const level = role !== undefined && permissions.includes(role) ? role : textAt(answer, 'permission', 'permission')
  return permissions.includes(level) ? (level as RepositoryPermission) : 'none'
}
