// The client of GitHub that reads what people say on a pull request, as far as it approves a commit: comments and reviews. It
// keeps the commit that was approved and who said so; texts are hostile, and none of them leaves this file. Reads only;
// conditional requests cost nothing while nothing new was said.
// Source: https://docs.github.com/en/rest/issues/comments#list-issue-comments, https://docs.github.com/en/rest/pulls/reviews
import { isAppError } from '../../lib/errors.ts'
import { isJsonObject } from '../../lib/json/json-value.ts'
import { type Answer, integerAt, listOf, objectAt, optionalTextAt, recordOf, textAt } from '../transport/answer.ts'
import { createTokenRequester, type TokenClientDeps } from '../transport/token-requester.ts'

/**
 * A person approved a commit; whether that person may is asked separately. The id is the identity, the login can pass to
 * others.
 */
export type ApprovalStatement = { readonly by: { readonly id: number; readonly login: string }; readonly headCommit: string }

/** A pull request as far as approvals concern it; `comments` is how many there are. */
export type DiscussedPullRequest = {
  readonly isOpen: boolean
  readonly headCommit: string
  /** Undefined when the fork was deleted. */
  readonly headRepositoryId: number | undefined
  /** Whose repository it is: whoever opens a pull request can choose the fork of another person. */
  readonly headOwnerId: number | undefined
  /** The person who opened it; undefined for a bot and for a deleted account. */
  readonly author: ApprovalStatement['by'] | undefined
  readonly comments: number
  /** When anything about it last changed, as GitHub writes it. */
  readonly updatedAt: string | undefined
}

/** Repositories are named by id. All methods throw AppError: see failure.ts for codes and reasons. */
export type DiscussionClient = {
  /** undefined when there is no such repository or pull request. */
  readonly pullRequest: (repositoryId: number, number: number) => Promise<DiscussedPullRequest | undefined>
  /**
   * The approvals in the comments of a pull request that has so many comments, oldest first: in its newest 200, when it has
   * more. Comments that were edited, comments of bots, of deleted accounts and of programs that write in a person's name are
   * left out.
   */
  readonly approvingComments: (repositoryId: number, number: number, comments: number) => Promise<readonly ApprovalStatement[]>
  /**
   * The approving reviews that were not dismissed, oldest first, with the commits that they are about: in its first 1,000
   * reviews.
   */
  readonly approvingReviews: (repositoryId: number, number: number) => Promise<readonly ApprovalStatement[]>
}

const perPage = 100
/** An outsider can comment without end. The newest comments count, so that nobody can bury the next approval. */
const newestPages = 2
const maxReviewPages = 10

/**
 * The commit that a comment approves. The command is the first line, alone and not quoted, with the full commit id: two commits
 * with the same first characters are easily made, and a quoted command is another person's.
 */
export function approvedCommit(body: string): string | undefined {
  return /^\/sekisho approve ([0-9a-f]{40})[ \t]*(?:\r?\n|$)/.exec(body)?.[1]
}

/** GitHub shows a deleted account as null or as the user `ghost`, whose id is nobody's. */
function personIn(answer: Answer, what: string): ApprovalStatement['by'] | undefined {
  const user = answer['user']
  if (!isJsonObject(user) || user['type'] !== 'User' || user['login'] === 'ghost') return undefined
  return { id: integerAt(user, 'id', `${what}.user`), login: textAt(user, 'login', `${what}.user`) }
}

function commentStatement(item: unknown): ApprovalStatement | undefined {
  const comment = recordOf(item, 'comment')
  const headCommit = approvedCommit(optionalTextAt(comment, 'body', 'comment') ?? '')
  const by = personIn(comment, 'comment')
  if (headCommit === undefined || by === undefined) return undefined
  // Whoever may write to the repository, and every App that may, can change what another person wrote.
  const isEdited = textAt(comment, 'created_at', 'comment') !== textAt(comment, 'updated_at', 'comment')
  const isByProgram = (comment['performed_via_github_app'] ?? null) !== null
  return isEdited || isByProgram ? undefined : { by, headCommit }
}

function reviewStatement(item: unknown): ApprovalStatement | undefined {
  const review = recordOf(item, 'review')
  if (textAt(review, 'state', 'review') !== 'APPROVED') return undefined
  const by = personIn(review, 'review')
  const headCommit = optionalTextAt(review, 'commit_id', 'review')
  if (by === undefined || headCommit === undefined || !/^[0-9a-f]{40}$/.test(headCommit)) return undefined
  return { by, headCommit }
}

type Page = { readonly size: number; readonly statements: readonly ApprovalStatement[] }

const pageOf =
  (what: string, read: (item: unknown) => ApprovalStatement | undefined) =>
  (data: unknown): Page => {
    const items = listOf(data, what)
    return { size: items.length, statements: items.flatMap(item => read(item) ?? []) }
  }

const pull = 'GET /repositories/{repository_id}/pulls/{pull_number}'
const commentsRoute = 'GET /repositories/{repository_id}/issues/{issue_number}/comments'

/** What others remember of the same routes has other fields: each key of the remembered answers has one reader. */
function ownAnswers({ answers, ...deps }: TokenClientDeps): TokenClientDeps {
  return answers === undefined ? deps : { ...deps, answers: { ...answers, scope: `${answers.scope}/discussion` } }
}

/** A client for one token, which may be seconds old. */
export function createDiscussionClient(deps: TokenClientDeps): DiscussionClient {
  const requester = createTokenRequester(ownAnswers(deps), { fresh: true })
  /** The pages from `first` on, until one is not full. */
  const pages = async (first: number, most: number, read: (page: number) => Promise<Page>): Promise<readonly Page[]> => {
    const found: Page[] = []
    for (let page = first; found.length < most; page += 1) {
      const one = await read(page)
      found.push(one)
      if (one.size < perPage) break
    }
    return found
  }
  const statements = (found: readonly Page[]): readonly ApprovalStatement[] => found.flatMap(page => page.statements)

  return {
    async pullRequest(repositoryId, number) {
      const parameters = { repository_id: repositoryId, pull_number: number }
      try {
        return await requester.get(pull, parameters, data => pullRequestIn(recordOf(data, 'pull request')))
      } catch (error) {
        if (isAppError(error, 'not_found')) return undefined
        throw error
      }
    },
    async approvingComments(repositoryId, number, comments) {
      const first = Math.max(1, Math.ceil(comments / perPage) - newestPages + 1)
      const read = (page: number) =>
        requester.get(
          commentsRoute,
          { repository_id: repositoryId, issue_number: number, per_page: perPage, page },
          pageOf('comments', commentStatement),
        )
      // One page more than there should be: comments may have come since they were counted.
      return statements(await pages(first, newestPages + 1, read))
    },
    async approvingReviews(repositoryId, number) {
      const read = (page: number) =>
        requester.get(
          `${pull}/reviews`,
          { repository_id: repositoryId, pull_number: number, per_page: perPage, page },
          pageOf('reviews', reviewStatement),
        )
      return statements(await pages(1, maxReviewPages, read))
    },
  }
}

function pullRequestIn(answer: Answer): DiscussedPullRequest {
  const head = objectAt(answer, 'head', 'pull request')
  const { comments } = answer
  const repository = head['repo']
  const owner = isJsonObject(repository) ? repository['owner'] : undefined
  return {
    isOpen: textAt(answer, 'state', 'pull request') === 'open',
    headCommit: textAt(head, 'sha', 'head'),
    headRepositoryId: isJsonObject(repository) ? integerAt(repository, 'id', 'head.repo') : undefined,
    headOwnerId: isJsonObject(owner) ? integerAt(owner, 'id', 'head.repo.owner') : undefined,
    author: personIn(answer, 'pull request'),
    updatedAt: optionalTextAt(answer, 'updated_at', 'pull request'),
    comments: typeof comments === 'number' && Number.isSafeInteger(comments) && comments >= 0 ? comments : 0,
  }
}
