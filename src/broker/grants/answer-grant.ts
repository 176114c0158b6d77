// A signed-in person answers for a grant that waits, on the page of the tenant. Who may is what RBAC says about this person at
// that moment, the same right that `kubectl create grantapproval` needs; the broker writes the GrantApproval in their name
// (docs/adr/0089-answers-on-the-page-and-break-glass.md). Every step narrows a value or throws one AppError.
import type { TenantAuditRecord } from '../../api/audit/audit-event.ts'
import { type GrantApproval, grantApproval } from '../../api/github/grant-approval.ts'
import type { Halt } from '../../api/github/halt.ts'
import type { Installation } from '../../api/github/installation.ts'
import type { RepositoryGrant } from '../../api/github/repository-grant.ts'
import { parseUserSubject } from '../../api/names.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import type { KubeClient, NewObject } from '../../kube/client/client.ts'
import { isKubeError, type KubeError } from '../../kube/client/errors.ts'
import { AppError, isAppError } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { haltedText, haltOf } from '../../policy/halt.ts'
import type { AuditLog } from '../../store/audit/audit-log.ts'
import type { Identity } from '../people/tenant-access.ts'
import type { VisibleGrants } from './visible-grants.ts'

export type AnswerGrantDeps = {
  readonly grants: Pick<VisibleGrants, 'find' | 'mayAnswer'>
  readonly installations: Pick<Cache<Installation>, 'get'>
  readonly halts: Pick<Cache<Halt>, 'list'>
  readonly kube: Pick<KubeClient, 'create'>
  readonly audit: Pick<AuditLog, 'append'>
  readonly log: Log
}

export type AnswerRequest = {
  readonly identity: Identity
  /** For display only. */
  readonly login: string
  readonly namespace: string
  readonly name: string
  /** Of the grant that the page showed. */
  readonly uid: string
  readonly answer: GrantApproval['spec']['answer']
  readonly reason: string
  /** How long an approval counts. */
  readonly lifetime: ApprovalLifetime
}

/** How long an approval of the page counts, in seconds: at most for as long as one by kubectl that says nothing. */
export const approvalLifetimes = { hour: 3600, day: 86_400, week: 604_800, month: 2_592_000 } as const
export type ApprovalLifetime = keyof typeof approvalLifetimes

type Person = NonNullable<ReturnType<typeof parseUserSubject>>

function requirePerson({ subject }: Identity): Person {
  const person = parseUserSubject(subject)
  if (person === undefined) throw new AppError('forbidden', 'only a person who is signed in with GitHub can answer')
  return person
}

/** Stops an answer to a grant that was deleted and created again since the page was loaded, or that nobody asks about. */
function requireAsked({ metadata, status }: RepositoryGrant, { name, uid }: AnswerRequest): void {
  if (metadata.uid !== uid || metadata.deletionTimestamp !== undefined)
    throw new AppError('conflict', `${name} is another grant than the one that the page showed: load the page again and look`)
  if (status?.decision !== 'Waiting' || status.requestedRepositories === undefined)
    throw new AppError('conflict', `${name} does not wait for approval any more: load the page again and look`)
}

/** Stops who has no right to, who requested it, who is of another GitHub, and who is halted. Rejects with `forbidden`. */
async function requireApprover(deps: AnswerGrantDeps, grant: RepositoryGrant, request: AnswerRequest): Promise<void> {
  const { identity, namespace, name } = request
  if (!(await deps.grants.mayAnswer(identity, namespace)))
    throw new AppError('forbidden', 'only admins of the tenant answer for grants (create on grantapprovals)', {
      reason: 'NotAdmin',
    })
  const person = requirePerson(identity)
  const requester = parseUserSubject(grant.spec.requestedBy)
  if (requester?.host === person.host && requester.userId === person.userId)
    throw new AppError('forbidden', `you requested ${name}: another admin of the tenant has to answer, or you delete it`, {
      reason: 'OwnGrant',
    })
  const host = deps.installations.get({ namespace, name: grant.spec.installation })?.spec.account.host
  if (host !== person.host)
    throw new AppError('forbidden', `you signed in at ${person.host}, and the repositories of ${name} are not there`)
  const ofPeople = deps.halts.list().filter(({ spec }) => spec.target.type === 'Person')
  const halt = haltOf(ofPeople, { namespace, requestedBy: identity.subject })
  if (halt !== undefined) throw new AppError('forbidden', `you are ${haltedText(halt)}`, { reason: 'Halted' })
}

type Outcome = Pick<TenantAuditRecord, 'outcome' | 'reason'>

function recordOf(
  { identity, login, namespace, name, uid, answer, lifetime }: AnswerRequest,
  outcome: Outcome,
): TenantAuditRecord {
  return {
    action: 'grant.answered',
    actor: identity.subject,
    namespace,
    object: `RepositoryGrant/${namespace}/${name}`,
    ...outcome,
    details: {
      ...{ host: parseUserSubject(identity.subject)?.host ?? null, login, grantUid: uid, answer, via: 'Page' },
      ...(answer === 'Approve' ? { lifetimeSeconds: approvalLifetimes[lifetime] } : {}),
    },
  }
}

function refusalOf(error: KubeError): AppError {
  if (error.status === 403 || error.status === 422)
    return new AppError('forbidden', `the API server refuses the answer: ${error.message.slice(0, 500)}`, { cause: error })
  return new AppError('unavailable', 'the API server did not accept the answer: load the page again and look', { cause: error })
}

/**
 * Resolves when the API server has stored the answer; the newest answer of a person is theirs. Rejects with `not_found` for who
 * may not see the grant, with `forbidden` for who may not answer, which is recorded, and with `conflict` when it is another
 * grant than the page showed, or none that waits.
 */
export async function answerGrant(deps: AnswerGrantDeps, request: AnswerRequest): Promise<void> {
  const { identity, namespace, name, uid, answer, reason, lifetime } = request
  const grant = await deps.grants.find(identity, namespace, name)
  await requireApprover(deps, grant, request).catch(async (error: unknown) => {
    if (isAppError(error, 'forbidden')) await deps.audit.append(recordOf(request, { outcome: 'denied', reason: error.message }))
    throw error
  })
  requireAsked(grant, request)
  await deps.audit.append(recordOf(request, { outcome: 'allowed', reason }))
  const object = {
    apiVersion: grantApproval.apiVersion,
    kind: grantApproval.kind,
    metadata: { generateName: `${name.slice(0, 200)}-`, namespace },
    spec: {
      grant: { name, uid },
      answer,
      reason,
      lifetimeSeconds: approvalLifetimes[lifetime],
      via: 'Page',
      requestedBy: identity.subject,
    },
  }
  try {
    await deps.kube.create(grantApproval, object as NewObject<GrantApproval>, { fieldManager: 'sekisho-broker' })
  } catch (error) {
    if (!isKubeError(error)) throw error
    // Without an answer of the API server it may be stored.
    if (error.status > 0)
      await deps.audit.append(
        recordOf(request, { outcome: 'failed', reason: `the API server refused it: ${error.message.slice(0, 500)}` }),
      )
    throw refusalOf(error)
  }
  deps.log.info({ grant: name, namespace, subject: identity.subject, answer }, 'a person answered for a grant on the page')
}
