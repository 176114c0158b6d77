// The client of GitHub for an AppPipeline: the open pull requests of a repository, one of them, and what its commits say. What
// of a pull request people write is cut to what decides; its text is not kept. Repositories are named by id
// (repository-client.ts).
import { AppError } from '../../lib/errors.ts'
import { isJsonObject } from '../../lib/json/json-value.ts'
import { comparedFiles } from '../compared-files.ts'
import { type Answer, integerAt, listOf, objectAt, optionalTextAt, recordOf, textAt } from '../transport/answer.ts'
import { orUndefined } from '../transport/failure.ts'
import { createTokenRequester, type TokenClientDeps } from '../transport/token-requester.ts'

/** A pull request as it is now. */
export type PullRequest = {
  readonly number: number
  /** The present name of the repository that it belongs to. */
  readonly repositoryName: string
  readonly state: 'open' | 'closed'
  readonly draft: boolean
  /** The title asks for no preview. */
  readonly skips: boolean
  readonly headCommit: string
  readonly headBranch: string
  /** Undefined when that repository was deleted. */
  readonly headRepository: number | undefined
  readonly baseCommit: string
  readonly baseBranch: string
  /** Undefined when the account was deleted. */
  readonly author: { readonly id: number; readonly login: string; readonly isBot: boolean } | undefined
  readonly labels: readonly string[]
  /** RFC 3339, in whole seconds: the last change of anything about it, comments and reviews included. */
  readonly updatedAt: string
  /**
   * RFC 3339, in whole seconds: the last push to any branch of the repository that it belongs to; undefined when GitHub does
   * not say. https://docs.github.com/en/rest/pulls/pulls#list-pull-requests (`base.repo.pushed_at`)
   */
  readonly pushedAt: string | undefined
}

/** All methods throw AppError: see failure.ts for codes and reasons. */
export type PullRequestClient = {
  /**
   * A page of the open pull requests, the one opened last first; `pullRequestsOfPage` of them unless it is the last page.
   * Rejects with `not_found`.
   */
  readonly openPullRequests: (repository: number, page: number) => Promise<readonly PullRequest[]>
  /** undefined when GitHub does not show the repository or the pull request. */
  readonly pullRequest: (repository: number, number: number) => Promise<PullRequest | undefined>
  /**
   * The paths of the files that a pull request changes, with the former paths of renamed ones; undefined when GitHub does not
   * list them all. Since the commit at which its branch left the other one.
   */
  readonly filesOf: (
    repository: number,
    pull: Pick<PullRequest, 'baseCommit' | 'headCommit'>,
  ) => Promise<readonly string[] | undefined>
  /** The newest commit of a branch; undefined when GitHub does not show the repository or the branch. */
  readonly branch: (repository: number, name: string) => Promise<string | undefined>
  /** Whether the message of a commit asks for no preview. */
  readonly commitSkips: (repository: number, commit: string) => Promise<boolean>
}

/** A body has up to 262,144 bytes, and an answer may have 10 MB: people could make a page of 100 too large to be read. */
export const pullRequestsOfPage = 30
const skipMark = /\[skip preview\]/i

const root = 'GET /repositories/{repository_id}'

/** A client for one token, which may be seconds old. */
export function createPullRequestClient(deps: TokenClientDeps): PullRequestClient {
  const requester = createTokenRequester(deps, { fresh: true })
  return {
    openPullRequests: (repository, page) =>
      requester.get(
        `${root}/pulls`,
        { repository_id: repository, state: 'open', sort: 'created', direction: 'desc', per_page: pullRequestsOfPage, page },
        data => listOf(data, 'pull requests').map(item => pullRequestOf(recordOf(item, 'pull requests'), repository)),
      ),
    pullRequest: (repository, number) =>
      orUndefined(() =>
        requester.get(`${root}/pulls/{pull_number}`, { repository_id: repository, pull_number: number }, data => {
          const found = pullRequestOf(recordOf(data, 'pull request'), repository)
          if (found.number === number) return found
          throw new AppError('integrity_violation', `GitHub answered with pull request ${found.number} instead of ${number}`)
        }),
      ),
    filesOf: (repository, { baseCommit, headCommit }) =>
      orUndefined(() =>
        requester.get(
          `${root}/compare/{basehead}`,
          { repository_id: repository, basehead: `${baseCommit}...${headCommit}`, per_page: 1 },
          data => comparedFiles(recordOf(data, 'comparison')),
        ),
      ),
    branch: (repository, name) =>
      orUndefined(() =>
        requester.get(`${root}/branches/{branch}`, { repository_id: repository, branch: name }, data =>
          commitAt(objectAt(recordOf(data, 'branch'), 'commit', 'branch'), 'branch.commit'),
        ),
      ),
    commitSkips: (repository, commit) =>
      requester.get(`${root}/commits/{ref}`, { repository_id: repository, ref: commit, per_page: 1 }, data =>
        skipMark.test(textAt(objectAt(recordOf(data, 'commit'), 'commit', 'commit'), 'message', 'commit.commit')),
      ),
  }
}

/** Texts of people, with GitHub's own bounds: a longer one is not GitHub's. */
const maxBranch = 255
const maxLogin = 100
const maxName = 300
const maxLabel = 50
const maxLabels = 100

/** Half a character at the end would come back from the API server as another one. */
function cut(text: string, most: number): string {
  return text.slice(0, most).toWellFormed()
}

function branchAt(end: Answer, what: string): string {
  return cut(textAt(end, 'ref', what), maxBranch)
}

function pullRequestOf(answer: Answer, repository: number): PullRequest {
  const head = objectAt(answer, 'head', 'pull request')
  const base = objectAt(answer, 'base', 'pull request')
  const into = objectAt(base, 'repo', 'base')
  if (into['id'] !== repository)
    throw new AppError('integrity_violation', `GitHub answered with a pull request of another repository than ${repository}`)
  const { user } = answer
  return {
    number: integerAt(answer, 'number', 'pull request'),
    repositoryName: cut(textAt(into, 'full_name', 'base.repo'), maxName),
    state: textAt(answer, 'state', 'pull request') === 'open' ? 'open' : 'closed',
    draft: answer['draft'] === true,
    skips: skipMark.test(textAt(answer, 'title', 'pull request')),
    headCommit: commitAt(head, 'head'),
    headBranch: branchAt(head, 'head'),
    headRepository: isJsonObject(head['repo']) ? integerAt(head['repo'], 'id', 'head.repo') : undefined,
    baseCommit: commitAt(base, 'base'),
    baseBranch: branchAt(base, 'base'),
    author: isJsonObject(user) ? authorOf(user) : undefined,
    labels: listOf(answer['labels'], 'pull request.labels')
      .slice(0, maxLabels)
      .map(label => cut(textAt(recordOf(label, 'labels'), 'name', 'labels'), maxLabel)),
    updatedAt: textAt(answer, 'updated_at', 'pull request').slice(0, 40),
    pushedAt: optionalTextAt(into, 'pushed_at', 'base.repo')?.slice(0, 40),
  }
}

function authorOf(user: Answer): NonNullable<PullRequest['author']> {
  const login = cut(textAt(user, 'login', 'user'), maxLogin)
  return { id: integerAt(user, 'id', 'user'), login, isBot: user['type'] === 'Bot' }
}

function commitAt(end: Answer, what: string): string {
  const sha = textAt(end, 'sha', what)
  if (/^[0-9a-f]{40}([0-9a-f]{24})?$/.test(sha)) return sha
  throw new AppError('upstream_failed', `GitHub's answer is not understood: ${what}.sha is not a commit`, {
    reason: 'AnswerNotUnderstood',
  })
}
