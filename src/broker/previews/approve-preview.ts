// A signed-in person approves the head commit of a pull request from a fork. GitHub is asked with the person's own token and by
// numeric ids: whether the commit is the head at this moment, and whether this person may write to the repository. A role in
// the tenant does not count: whoever decides about the code on GitHub decides here. Every step narrows a value or throws one
// AppError.
import type { AppPipeline } from '../../api/apps/app-pipeline.ts'
import {
  type ApprovalWay,
  approves,
  isSameApproval,
  type NewApproval,
  newPreviewApproval,
  previewApproval,
} from '../../api/apps/preview-approval.ts'
import type { TenantAuditRecord } from '../../api/audit/audit-event.ts'
import { followedRepository } from '../../api/capabilities/repository-follower.ts'
import type { Installation } from '../../api/github/installation.ts'
import { parseUserSubject } from '../../api/names.ts'
import { type RepositoryClient, writerById } from '../../github/index.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { isGone, isKubeError } from '../../kube/client/errors.ts'
import { AppError, isAppError } from '../../lib/errors.ts'
import { defined } from '../../lib/json/defined.ts'
import type { Log } from '../../lib/log.ts'
import type { AuditLog } from '../../store/audit/audit-log.ts'
import type { Identity } from '../people/tenant-access.ts'
import type { VisiblePreviews } from './visible-previews.ts'

/** What is read as the person. */
export type PersonsRepository = Pick<RepositoryClient, 'pullRequest' | 'userById' | 'collaboratorPermission'>

export type ApprovePreviewDeps = {
  readonly previews: Pick<VisiblePreviews, 'find'>
  readonly installations: Pick<Cache<Installation>, 'get'>
  /** Rejects with `unauthenticated` when the person has to sign in again. */
  readonly repositoryClient: (host: string, userId: number) => Promise<PersonsRepository>
  readonly kube: Pick<KubeClient, 'create' | 'get'>
  readonly audit: Pick<AuditLog, 'append' | 'appendOnce'>
  readonly log: Log
}

export type ApprovalRequest = {
  readonly identity: Identity
  readonly namespace: string
  readonly pipeline: string
  readonly number: number
  /** What the person looked at: 40 characters. */
  readonly headCommit: string
  readonly via: Extract<ApprovalWay, 'Page' | 'CommandLine'>
}

type Person = { readonly host: string; readonly userId: number }

function requirePerson({ identity }: ApprovalRequest): Person {
  const person = parseUserSubject(identity.subject)
  if (person === undefined) throw new AppError('forbidden', 'only a person on GitHub can approve')
  return person
}

/**
 * The numeric id of the repository of the waiting pull request. Ids are unique per host only: the person must be of the same
 * host.
 */
function requireWaiting(deps: ApprovePreviewDeps, pipeline: AppPipeline, { number }: ApprovalRequest, { host }: Person): number {
  const { metadata, spec, status } = pipeline
  const installation = deps.installations.get({ namespace: metadata.namespace ?? '', name: spec.installation })
  if (installation?.spec.account.host !== host)
    throw new AppError('forbidden', `you signed in at ${host}, and the repository of AppPipeline ${metadata.name} is not there`)
  const repository = followedRepository(pipeline)
  const row = status?.previews?.find(one => one.number === number)
  if (repository === undefined || row === undefined)
    throw new AppError('not_found', `AppPipeline ${metadata.name} does not list pull request ${number}`)
  if (row.state !== 'WaitingForApproval')
    throw new AppError('conflict', `pull request ${number} does not wait for an approval: it is ${row.state} (${row.reason})`)
  return repository.id
}

async function requirePresentHead(
  client: PersonsRepository,
  repository: number,
  { number, headCommit }: ApprovalRequest,
): Promise<void> {
  const pull = await client.pullRequest(repository, number)
  if (pull === undefined)
    throw new AppError('forbidden', `GitHub does not show you pull request ${number}, so you cannot approve it`)
  if (pull.state !== 'open') throw new AppError('conflict', `pull request ${number} is not open any more`)
  if (pull.headSha !== headCommit)
    throw new AppError(
      'conflict',
      `the newest commit of pull request ${number} is ${pull.headSha}, not ${headCommit}: look at it, and approve that one`,
    )
}

/** The person with the present login. GitHub hides from people without access who has access: that refusal is an answer, too. */
async function requireWriter(client: PersonsRepository, repository: number, { userId }: Person): Promise<NewApproval['by']> {
  try {
    const writer = await writerById(client, repository, userId)
    if (writer !== undefined) return writer
  } catch (error) {
    if (!isAppError(error, 'forbidden') || error.reason !== undefined) throw error
  }
  throw new AppError('forbidden', 'only people who may write to the repository on GitHub can approve a commit of a fork', {
    reason: 'NoWriteAccess',
  })
}

const reasonTexts: Readonly<Record<ApprovalRequest['via'], string>> = {
  Page: 'the person approved this commit on the web page, and may write to the repository',
  CommandLine: 'the person approved this commit by the command line, and may write to the repository',
}

function recordOf(
  request: ApprovalRequest,
  pipeline: AppPipeline,
  of: Pick<TenantAuditRecord, 'object' | 'outcome' | 'reason'> & { readonly repository: number; readonly login?: string },
): TenantAuditRecord {
  const { identity, namespace, number, headCommit, via } = request
  const { repository, login, ...rest } = of
  return {
    action: 'preview.approved',
    actor: identity.subject,
    namespace,
    ...rest,
    details: {
      host: parseUserSubject(identity.subject)?.host ?? null,
      ...defined({ login }),
      pipelineUid: pipeline.metadata.uid ?? null,
      repositoryId: repository,
      pullRequest: number,
      headCommit,
      via,
    },
  }
}

/** Approving twice is not an error; an object of the name that is for another commit is. */
async function create({ kube }: ApprovePreviewDeps, pipeline: AppPipeline, approval: NewApproval): Promise<string> {
  const desired = newPreviewApproval(pipeline, approval)
  const { name, namespace = '' } = desired.metadata
  try {
    await kube.create(previewApproval, desired, { fieldManager: 'sekisho-broker' })
    return name
  } catch (error) {
    if (isGone(error)) throw new AppError('not_found', `AppPipeline ${pipeline.metadata.name} is being deleted`)
    if (!isKubeError(error, 409)) throw error
  }
  const existing = await kube.get(previewApproval, { namespace, name })
  const head = { ...approval, pipeline: desired.spec.pipeline.uid }
  if (existing !== undefined && approves(existing, head)) return name
  throw new AppError('conflict', `the approval ${name} of another commit is being removed: try again in ten minutes`)
}

/**
 * Resolves to the name of the PreviewApproval. Rejects with `not_found` for who may not see the AppPipeline, with `conflict`
 * when the commit is not the head or nothing waits, and with `forbidden` for who may not write to the repository, which is
 * recorded.
 */
export async function approvePreview(deps: ApprovePreviewDeps, request: ApprovalRequest): Promise<string> {
  const { namespace, number, headCommit, via } = request
  const person = requirePerson(request)
  const pipeline = await deps.previews.find(request.identity, namespace, request.pipeline)
  const repository = requireWaiting(deps, pipeline, request, person)
  const client = await deps.repositoryClient(person.host, person.userId)
  await requirePresentHead(client, repository, request)
  const by = await requireWriter(client, repository, person).catch(async (error: unknown) => {
    if (isAppError(error, 'forbidden')) {
      const object = `AppPipeline/${namespace}/${pipeline.metadata.name}`
      await deps.audit.append(recordOf(request, pipeline, { object, outcome: 'denied', reason: error.message, repository }))
    }
    throw error
  })
  const approval: NewApproval = { repository, number, headCommit, by: { id: by.id, login: by.login }, via }
  const { name } = newPreviewApproval(pipeline, approval).metadata
  const object = `PreviewApproval/${namespace}/${name}`
  const record = recordOf(request, pipeline, {
    object,
    outcome: 'allowed',
    reason: reasonTexts[via],
    repository,
    login: by.login,
  })
  // A process may have ended between the record and the object: who asks again finishes the same approval.
  await deps.audit.appendOnce(record, earlier => earlier.some(one => isSameApproval(one, record)))
  await create(deps, pipeline, approval)
  deps.log.info({ approval: name, namespace, subject: request.identity.subject, via }, 'preview approved')
  return name
}
