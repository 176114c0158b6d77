// Who asks for which repository, and whether the grant gives it: identify → the desk → host → repository → permission. What is
// refused after the desk admitted the workload is in the audit log.
import { AppError } from '../../../lib/errors.ts'
import { defined } from '../../../lib/json/defined.ts'
import { isWithinLevel } from '../../../policy/permission-level.ts'
import type { CountedAudit } from '../../../store/audit/counted-audit.ts'
import { repositoryOfPath } from '../../token-desk/server/git-credential.ts'
import type { IdentifyWorkload } from '../../token-desk/server/workload.ts'
import { disclosingNothing, workloadRequest } from '../../token-desk/server/workload-token.ts'
import type { DeliveredToken, TokenDesk } from '../../token-desk/token-desk.ts'
import { type GitAccess, refusedEvent } from '../push/records.ts'
import { bytesOfAdmission, type LoopTurns } from '../streams/loop-turns.ts'
import type { RepositoryNames } from '../upstream/repository-names.ts'
import { readCredential } from './basic-credential.ts'

export type AccessDeps = {
  readonly desk: Pick<TokenDesk, 'request' | 'grantUid'>
  readonly identify: IdentifyWorkload
  readonly names: RepositoryNames
  readonly counted: Pick<CountedAudit, 'append'>
  readonly turns: LoopTurns
}

/** What a client asks for, by URL and header. */
export type Asked = {
  readonly authorization: string | undefined
  readonly address: string
  readonly host: string
  readonly owner: string
  readonly repository: string
  readonly service: GitService
  /** git's first request for a repository: whose name it is, is asked for anew. */
  readonly advertises: boolean
}

export const gitServices = ['git-upload-pack', 'git-receive-pack'] as const
export type GitService = (typeof gitServices)[number]

/** Admitted: with the token, which never leaves the process but to GitHub. */
export type AdmittedAccess = GitAccess & Pick<DeliveredToken, 'token' | 'mintedAt' | 'refs'> & { readonly web: string }

const neededLevel = { 'git-upload-pack': 'read', 'git-receive-pack': 'write' } as const

/**
 * Resolves after the use of the grant is in the audit log.
 * @throws AppError `unauthenticated`, `forbidden`, and what the token desk throws
 */
export async function accessOf(deps: AccessDeps, asked: Asked): Promise<AdmittedAccess> {
  const credential = readCredential(asked.authorization)
  const workload = await deps.identify(credential.bearer, asked.address)
  // Not before: what strangers send must not keep others waiting.
  await deps.turns.pass(bytesOfAdmission)
  const { request, token } = await disclosingNothing(async () => {
    const made = await workloadRequest(deps.desk, workload, credential.grant, 'GitProxy')
    return { request: made, token: await deps.desk.request(made) }
  })
  const { host } = token.endpoints
  const refuse = async (check: string, reason: string, repository?: GitAccess['repository']): Promise<never> => {
    await deps.counted.append(refusedEvent({ request, host, ...(repository && { repository }) }, { check, reason }))
    throw new AppError('forbidden', reason)
  }
  if (asked.host.toLowerCase() !== host.toLowerCase())
    return refuse('OtherHost', `the grant is for repositories of ${host}: the URL must begin with https://<git proxy>/${host}/`)
  const name = repositoryOfPath(`${asked.owner}/${asked.repository}`)
  const { advertises } = asked
  const repository = await deps.names.find(name, { grantUid: request.grant.metadata.uid ?? '', token, advertises })
  if (repository === undefined)
    return refuse('OtherRepository', `the grant has no repository of this name: it has ${namesOf(token.repositories)}`)
  const level = neededLevel[asked.service]
  if (!isWithinLevel(level, token.permissions['contents']))
    return refuse('NoPermission', `the grant does not have the permission contents: ${level}`, repository)
  const { token: secret, mintedAt, refs, endpoints } = token
  return { request, host, repository, web: endpoints.web, token: secret, ...defined({ mintedAt, refs }) }
}

const maxNames = 5

function namesOf(repositories: readonly { readonly fullName: string }[]): string {
  const names = repositories.slice(0, maxNames).map(({ fullName }) => fullName)
  return `${names.join(', ')}${repositories.length > maxNames ? ' and others' : ''}`
}
