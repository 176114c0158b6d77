// The repository of one reconcile as GitHub shows it to the App, and which of its refusals are about one question only. Reads
// only.
import type { PullRequestClient } from '../../../github/index.ts'
import type { Clock } from '../../../lib/clock.ts'
import { isAppError } from '../../../lib/errors.ts'
import type { RepositoryAccess } from '../../kit/repository/owned-grant.ts'

export type AskDeps = {
  /** `installation` is the id of the installation under which the token was requested. */
  readonly openPullRequests: (access: RepositoryAccess, installation: number) => PullRequestClient
  readonly clock: Clock
}

/** The repository of one reconcile; the token is requested when it is first needed. */
export type Asked = {
  readonly access: () => Promise<RepositoryAccess>
  readonly installationId: number
  readonly signal: AbortSignal
}

export type Opened = { readonly reader: PullRequestClient; readonly repository: RepositoryAccess['repository'] }

export async function openRepository({ openPullRequests }: AskDeps, { access, installationId }: Asked): Promise<Opened> {
  const opened = await access()
  return { reader: openPullRequests(opened, installationId), repository: opened.repository }
}

/** Rejects only when GitHub is unreachable or limits requests, which is about no single pull request. */
export async function readable<T>(asked: Promise<T>, otherwise: T): Promise<T> {
  try {
    return await asked
  } catch (error) {
    if (isAppError(error) && ['not_found', 'upstream_failed', 'integrity_violation'].includes(error.code)) return otherwise
    throw error
  }
}
