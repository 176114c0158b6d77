// Asks GitHub for the open pull requests of a repository, by its id. Reads only. Conditional requests make a list in which
// nothing has changed free: GitHub answers 304 and does not count it.
import { appPipelineReasons as reasons } from '../../../api/apps/app-pipeline.ts'
import { type PullRequest, type PullRequestClient, pullRequestsOfPage } from '../../../github/index.ts'
import { AppError, isAppError } from '../../../lib/errors.ts'

/** As many pull requests are listed at most: outsiders open them. */
export const maxListed = 1000

export type OpenPullRequests = {
  readonly pulls: ReadonlyMap<number, PullRequest>
  /** There are more. */
  readonly isCut: boolean
}

/**
 * All pages, or an error: a part of a list is none. Rejects with `not_found` and its reason when GitHub does not show the
 * repository.
 */
export async function listOpen(
  client: Pick<PullRequestClient, 'openPullRequests'>,
  repository: { readonly id: number; readonly fullName: string },
  signal: AbortSignal,
): Promise<OpenPullRequests> {
  const pulls = new Map<number, PullRequest>()
  for (let page = 1; pulls.size < maxListed; page++) {
    signal.throwIfAborted()
    const found = await pageOf(client, repository, page)
    for (const pull of found) pulls.set(pull.number, pull)
    if (found.length < pullRequestsOfPage) return { pulls, isCut: false }
    // A server that ignores `page` must not be asked for ever.
    if (page * pullRequestsOfPage >= maxListed) break
  }
  return { pulls, isCut: true }
}

async function pageOf(
  client: Pick<PullRequestClient, 'openPullRequests'>,
  { id, fullName }: { readonly id: number; readonly fullName: string },
  page: number,
): Promise<readonly PullRequest[]> {
  try {
    return await client.openPullRequests(id, page)
  } catch (error) {
    if (!isAppError(error, 'not_found')) throw error
    const message = `spec.repository: GitHub does not show repository ${fullName} (id ${id}) to the App any more`
    throw new AppError('not_found', message, { reason: reasons.repositoryNotFound })
  }
}
