// The repository of one reconcile: a token for it, a client with the token, and what GitHub says about it now. Each is
// requested when it is first needed and at most once. Reads only.
import { remoteSyncReasons as reasons } from '../../../api/apps/remote-sync.ts'
import type { RepositoryClient, RepositoryFacts } from '../../../github/index.ts'
import { AppError } from '../../../lib/errors.ts'
import { once } from '../../../lib/limits/once.ts'
import { type AccessDeps, type AccessRequest, accessOnce, type RepositoryAccess } from '../../kit/repository/owned-grant.ts'
import type { CommitReader } from './resolve.ts'
import type { FileReader } from './unchanged.ts'

/** What is read of a repository. */
export type RepositoryReader = CommitReader & FileReader & Pick<RepositoryClient, 'repository'>

export type OpenRepositoryDeps = AccessDeps & {
  /** `installation` is the id of the installation under which the token was requested. */
  readonly openRepository: (access: RepositoryAccess, installation: number) => RepositoryReader
}

export type OpenRepository = {
  readonly open: () => Promise<{ readonly access: RepositoryAccess; readonly client: RepositoryReader }>
  /**
   * By id. Rejects with `not_found` (reason RepositoryNotFound) when GitHub does not have it, or the token does not reach it,
   * any more.
   */
  readonly current: () => Promise<RepositoryFacts>
}

/** Both functions reject as `accessOnce` and as the client do. */
export function openRepositoryOnce(deps: OpenRepositoryDeps, request: AccessRequest, installation: number): OpenRepository {
  const access = accessOnce(deps, request)
  const open = async () => {
    const opened = await access()
    return { access: opened, client: deps.openRepository(opened, installation) }
  }
  const current = once(async (): Promise<RepositoryFacts> => {
    const { access: opened, client } = await open()
    const found = await client.repository(opened.repository.id)
    if (found !== undefined) return found
    const message = `spec.repository: GitHub does not show repository ${opened.repository.fullName} (id ${opened.repository.id}) to the App any more`
    throw new AppError('not_found', message, { reason: reasons.repositoryNotFound })
  })
  return { open, current }
}
