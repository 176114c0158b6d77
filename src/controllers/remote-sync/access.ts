// The token with which one reconcile reads one repository: asked for at most once, at the token desk, for this RemoteSync as subject.
// The token lives in this value only and goes with it. GitHub's and the desk's refusals become stops that a person understands.
import type { RemoteSync } from '../../api/apps/remote-sync.ts'
import type { RepositoryGrant } from '../../api/github/repository-grant.ts'
import type { GitHubEndpoints } from '../../github/index.ts'
import { isKubeError } from '../../kube/client/errors.ts'
import { AppError, isAppError, messageOf } from '../../lib/errors.ts'
import type { SecretString } from '../../lib/secret-string.ts'
import { reasons, type Stage, type Stop, stop } from './progress.ts'

export type TokenRequest = {
  readonly grant: RepositoryGrant
  readonly subject: { readonly kind: 'RemoteSync'; readonly namespace: string; readonly name: string; readonly uid: string }
  readonly actor: string
}

/** The port of the token desk that is used here. */
export type RepositoryTokens = {
  readonly request: (request: TokenRequest) => Promise<{
    readonly token: SecretString
    readonly repositories: readonly { readonly id: number; readonly fullName: string }[]
  }>
}

export type Access = {
  readonly endpoints: GitHubEndpoints
  readonly token: SecretString
  /** By id: the name may have changed since the grant was decided. */
  readonly repository: { readonly id: number; readonly fullName: string }
}

export type AccessDeps = {
  readonly tokens: RepositoryTokens
  readonly endpointsOf: (clusterGitHubApp: string) => Promise<GitHubEndpoints>
}

export async function openAccess(deps: AccessDeps, remoteSync: RemoteSync, grant: RepositoryGrant, app: string): Promise<Access> {
  const { namespace = '', name, uid = '' } = remoteSync.metadata
  const endpoints = await deps.endpointsOf(app)
  const answer = await deps.tokens.request({
    grant,
    subject: { kind: 'RemoteSync', namespace, name, uid },
    actor: 'sekisho:remote-sync',
  })
  const [repository] = answer.repositories
  if (!repository || answer.repositories.length !== 1)
    throw new AppError('integrity_violation', `the token for ${namespace}/${name} does not reach exactly one repository`)
  return { endpoints, token: answer.token, repository }
}

/** What a failed request to the desk, to GitHub or of the fetch means. Permanent refusals wait for a change; others are tried again. */
export function stopOf(stage: Stage, error: unknown): Stop {
  if (isKubeError(error) || !isAppError(error)) throw error
  const permanent: readonly string[] = [reasons.commitNotFound, reasons.sourceTooLarge]
  if (error.reason !== undefined && permanent.includes(error.reason)) return stop(stage, error.reason, error.message)
  const message = messageOf(error).slice(0, 500)
  if (error.retryAfterSeconds !== undefined)
    return stop(stage, reasons.unreachable, message, { afterMilliseconds: error.retryAfterSeconds * 1000 })
  const refused: readonly string[] = ['forbidden', 'not_found', 'conflict']
  if (refused.includes(error.code)) return stop(stage, reasons.waitingForGrant, message, { error })
  return stop(stage, error.reason === reasons.fetchFailed ? reasons.fetchFailed : reasons.unreachable, message, { error })
}
