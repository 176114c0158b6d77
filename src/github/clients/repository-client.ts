// The client to GitHub with an installation token: reads of repositories, commits and people. What the token cannot see does not exist
// here (GitHub answers 404), which is what keeps one tenant's names from meaning another's repositories.
import type { Clock } from '../../lib/clock.ts'
import { isAppError } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { SecretString } from '../../lib/secret-string.ts'
import type { GitHubEndpoints } from '../endpoints.ts'
import { type Answer, integerAt, objectAt, optionalTextAt, recordOf, textAt } from '../transport/answer.ts'
import type { Fetch } from '../transport/bounded-fetch.ts'
import { githubReasons } from '../transport/failure.ts'
import { createClient } from '../transport/github-requests.ts'
import { createTokenRequester } from '../transport/token-requester.ts'

export type RepositoryClientDeps = {
  readonly endpoints: GitHubEndpoints
  readonly token: SecretString
  readonly log: Log
  readonly clock: Clock
  readonly fetch?: Fetch
}

/** A numeric id (the identity) or `owner/name` (what a person wrote). */
export type RepositoryReference = number | string

export type RepositoryFacts = {
  readonly id: number
  readonly fullName: string
  readonly private: boolean
  readonly archived: boolean
  readonly defaultBranch: string
  /** For git over HTTP; without a credential in it. */
  readonly cloneUrl: string
}

export type PullRequestFacts = {
  readonly number: number
  readonly state: 'open' | 'closed'
  readonly headSha: string
  readonly headRef: string
  /** undefined when the fork it came from is gone. */
  readonly headRepositoryId: number | undefined
  readonly baseRepositoryId: number
  readonly authorId: number
}

export type RepositoryPermission = 'none' | 'read' | 'triage' | 'write' | 'maintain' | 'admin'

export type RepositoryClient = {
  readonly repository: (repository: RepositoryReference) => Promise<RepositoryFacts | undefined>
  /** The commit a branch points to. */
  readonly branch: (repository: RepositoryReference, name: string) => Promise<string | undefined>
  readonly pullRequest: (repository: RepositoryReference, number: number) => Promise<PullRequestFacts | undefined>
  /** The full id of a commit, when the repository has it. */
  readonly commit: (repository: RepositoryReference, sha: string) => Promise<string | undefined>
  /** What a person may do in the repository, with the person's id to compare: logins change hands. */
  readonly collaboratorPermission: (
    repository: RepositoryReference,
    login: string,
  ) => Promise<{ readonly permission: RepositoryPermission; readonly userId: number }>
  readonly userById: (id: number) => Promise<{ readonly id: number; readonly login: string } | undefined>
}

export function createRepositoryClient(deps: RepositoryClientDeps): RepositoryClient {
  const requester = createTokenRequester(deps, createClient, { fresh: true })
  const get = (route: string, parameters: Readonly<Record<string, unknown>>): Promise<Answer | undefined> =>
    orUndefined(async () => recordOf((await requester.request(`GET ${route}`, parameters)).data, route))

  const repository: RepositoryClient['repository'] = async reference => {
    const answer =
      typeof reference === 'number'
        ? await get('/repositories/{repository_id}', { repository_id: reference })
        : await get('/repos/{owner}/{repo}', ownerAndName(reference))
    return answer && repositoryFacts(answer)
  }

  /** Routes below a repository go by name; an id is turned into today's name first. */
  const within = async (
    reference: RepositoryReference,
    route: string,
    parameters: Readonly<Record<string, unknown>>,
  ): Promise<Answer | undefined> => {
    const name = typeof reference === 'string' ? reference : (await repository(reference))?.fullName
    return name === undefined ? undefined : get(`/repos/{owner}/{repo}${route}`, { ...ownerAndName(name), ...parameters })
  }

  return {
    repository,
    async branch(reference, name) {
      const answer = await within(reference, '/branches/{branch}', { branch: name })
      return answer && textAt(objectAt(answer, 'commit', 'branch'), 'sha', 'branch.commit')
    },
    async pullRequest(reference, number) {
      const answer = await within(reference, '/pulls/{pull_number}', { pull_number: number })
      return answer && pullRequestFacts(answer)
    },
    async commit(reference, sha) {
      // Its diff comes along, a page of files at a time: of no use here, and as large as the commit is.
      const answer = await within(reference, '/commits/{ref}', { ref: sha, per_page: 1 })
      return answer && textAt(answer, 'sha', 'commit')
    },
    async collaboratorPermission(reference, login) {
      const answer = await within(reference, '/collaborators/{username}/permission', { username: login })
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
    // A read that GitHub refuses as such is about nothing: 422 for a commit id it does not know, 409 for an empty repository.
    if (isAppError(error, 'not_found')) return undefined
    if (isAppError(error) && error.reason === githubReasons.requestRefused) return undefined
    throw error
  }
}

function ownerAndName(fullName: string): { readonly owner: string; readonly repo: string } {
  const [owner = '', repo = ''] = fullName.split('/')
  return { owner, repo }
}

function repositoryFacts(answer: Answer): RepositoryFacts {
  return {
    id: integerAt(answer, 'id', 'repository'),
    fullName: textAt(answer, 'full_name', 'repository'),
    private: answer['private'] === true,
    archived: answer['archived'] === true,
    defaultBranch: textAt(answer, 'default_branch', 'repository'),
    cloneUrl: textAt(answer, 'clone_url', 'repository'),
  }
}

function pullRequestFacts(answer: Answer): PullRequestFacts {
  const head = objectAt(answer, 'head', 'pull request')
  const fork = head['repo']
  return {
    number: integerAt(answer, 'number', 'pull request'),
    state: textAt(answer, 'state', 'pull request') === 'open' ? 'open' : 'closed',
    headSha: textAt(head, 'sha', 'head'),
    headRef: textAt(head, 'ref', 'head'),
    headRepositoryId: fork === null || fork === undefined ? undefined : integerAt(recordOf(fork, 'head.repo'), 'id', 'head.repo'),
    baseRepositoryId: integerAt(objectAt(objectAt(answer, 'base', 'pull request'), 'repo', 'base'), 'id', 'base.repo'),
    authorId: integerAt(objectAt(answer, 'user', 'pull request'), 'id', 'user'),
  }
}

const permissions: readonly string[] = ['read', 'triage', 'write', 'maintain', 'admin'] satisfies RepositoryPermission[]

/** `role_name` is finer but may be a custom role; `permission` is always one of GitHub's four. */
function permissionIn(answer: Answer): RepositoryPermission {
  const role = optionalTextAt(answer, 'role_name', 'permission')
  const level = role !== undefined && permissions.includes(role) ? role : textAt(answer, 'permission', 'permission')
  return permissions.includes(level) ? (level as RepositoryPermission) : 'none'
}
