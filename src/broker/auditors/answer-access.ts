// Who could reach something, and who did, for a page: the same answer as `sekisho access`, from a bounded part of the audit log.

import { subjectOfAccount } from '../../api/application-account.ts'
import { collectDeliveries, type Delivered } from '../../api/audit/access/deliveries.ts'
import {
  deliveredSince,
  type GrantInterval,
  grantIntervals,
  grantUids,
  isWithin,
  type Span,
} from '../../api/audit/access/grant-intervals.ts'
import { actionsOf } from '../../api/audit/audit-groups.ts'
import { serviceAccountUser } from '../../api/builtin/service-account-user.ts'
import { AppError } from '../../lib/errors.ts'
import type { AuditEntry } from '../../store/audit/audit-chain.ts'
import type { AuditLog } from '../../store/audit/audit-log.ts'
import type { AuditQuery } from '../../store/audit/audit-rows.ts'
import type { AuditScope } from './audit-readers.ts'

/** By numbers and names that do not pass to another thing. */
export type AccessSubject =
  | { readonly type: 'repository'; readonly id: number }
  | { readonly type: 'person'; readonly subject: string }
  | { readonly type: 'workload'; readonly namespace: string; readonly name: string }

export type AccessAnswer = {
  readonly could: readonly GrantInterval[]
  readonly did: readonly Delivered[]
  /** Deliveries that are in no group. */
  readonly notListed: number
}

const maxEntries = 20_000
const maxGrants = 50
const pageEntries = 1000

type Filter = Omit<AuditQuery, 'limit' | 'after' | 'before'>

/** Rejects with `invalid_request` for what is too much for one page. Nothing outside of `scope` is read, whatever is asked. */
export async function answerAccess(
  audit: Pick<AuditLog, 'list'>,
  scope: AuditScope,
  subject: AccessSubject,
  span: Span,
): Promise<AccessAnswer> {
  const decisions = await decisionsAbout(audit, scope, subject)
  const could = grantIntervals(decisions).filter(interval => isAbout(interval, subject) && isWithin(interval, span))
  const from = deliveredSince(span)
  const since = scope.since === undefined || scope.since < from ? from : scope.since
  const filter = { ...deliveriesTo(subject), ...scope, since, until: span.until, actions: actionsOf('deliveries') }
  const received = collectDeliveries()
  for (const entry of await readAll(audit, filter)) received.add(entry)
  return { could, did: received.groups(), notListed: received.left }
}

/** All decisions about every grant that the log finds by the subject: one that denies has no repositories. */
async function decisionsAbout(
  audit: Pick<AuditLog, 'list'>,
  scope: AuditScope,
  subject: AccessSubject,
): Promise<readonly AuditEntry[]> {
  const actions = actionsOf('decisions')
  const found = await readAll(audit, { ...decisionsOf(subject), ...scope, actions })
  if (subject.type === 'workload') return found
  const uids = grantUids(found)
  if (uids.size > maxGrants) throw tooMuch(`${uids.size} grants`)
  const all = await Promise.all([...uids].map(uid => readAll(audit, { uid, ...scope, actions })))
  return all.flat().toSorted((a, b) => a.sequence - b.sequence)
}

async function readAll(audit: Pick<AuditLog, 'list'>, filter: Filter): Promise<readonly AuditEntry[]> {
  const all: AuditEntry[] = []
  for (;;) {
    const page = await audit.list({ ...filter, after: all.at(-1)?.sequence ?? 0, limit: pageEntries })
    all.push(...page)
    if (page.length < pageEntries) return all
    if (all.length >= maxEntries) throw tooMuch(`more than ${maxEntries} entries`)
  }
}

function tooMuch(what: string): AppError {
  return new AppError(
    'invalid_request',
    `${what} are too much for a page: name a namespace or a shorter time, or ask on the command line with sekisho access`,
  )
}

function decisionsOf(subject: AccessSubject): Filter {
  if (subject.type === 'repository') return { repositoryId: subject.id }
  return subject.type === 'person' ? { user: subject.subject } : { namespace: subject.namespace }
}

function deliveriesTo(subject: AccessSubject): Filter {
  if (subject.type !== 'workload') return decisionsOf(subject)
  const { namespace, name } = subject
  return { namespace, actor: serviceAccountUser(namespace, name) }
}

function isAbout({ repositoryIds, person, subjects }: GrantInterval, subject: AccessSubject): boolean {
  if (subject.type === 'repository') return repositoryIds.includes(subject.id)
  return subject.type === 'person' ? person === subject.subject : subjects.includes(subjectOfAccount(subject.name))
}
