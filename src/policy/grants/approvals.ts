// Which answers of people count for a RepositoryGrant, and what they say together. Pure: the controllers of both kinds decide by
// it. Four eyes: whoever requested the grant never counts, under whichever role.
import { createHash } from 'node:crypto'
import { type GrantApproval, grantApprovalReasons as reasons } from '../../api/github/grant-approval.ts'
import type { Halt } from '../../api/github/halt.ts'
import type { RepositoryGrant } from '../../api/github/repository-grant.ts'
import { parseUserSubject } from '../../api/names.ts'
import { compareText } from '../../lib/text/compare-text.ts'
import type { Refusal } from '../check.ts'
import { haltedText, haltOf } from '../halt.ts'

/** What decides whether an answer counts; `host` is that of the Installation of the grant, undefined while it has none. */
export type ApprovalFacts = {
  readonly grant: RepositoryGrant | undefined
  readonly host: string | undefined
  readonly halts: readonly Halt[]
  readonly now: Date
}

/** The answers that count. `by` is each person once. */
export type Answers = {
  readonly approvedBy: readonly string[]
  readonly denial: { readonly name: string; readonly by: string; readonly reason: string } | undefined
  /** When the first of them stops to count; undefined without any. */
  readonly until: Date | undefined
}

/** Nobody answered. */
export const noAnswers: Answers = { approvedBy: [], denial: undefined, until: undefined }

/** The end of an answer; one without a time of creation, which the API server always sets, has ended. */
export function endOfApproval({ metadata, spec }: GrantApproval): Date {
  return new Date((Date.parse(metadata.creationTimestamp ?? '') || 0) + spec.lifetimeSeconds * 1000)
}

/** Whether it is about this very object. */
export function isAbout({ spec }: GrantApproval, grant: RepositoryGrant | undefined): boolean {
  const uid = grant?.metadata.uid
  return uid !== undefined && grant?.metadata.name === spec.grant.name && uid === spec.grant.uid
}

/** Whether an answer counts; one that is over will never count again. */
export type Standing = { readonly kind: 'counts' } | { readonly kind: 'over' } | ({ readonly kind: 'refused' } & Refusal)

export function standingOfApproval(approval: GrantApproval, { grant, host, halts, now }: ApprovalFacts): Standing {
  const { requestedBy: by } = approval.spec
  if (grant === undefined || !isAbout(approval, grant)) return { kind: 'over' }
  if (endOfApproval(approval).getTime() <= now.getTime()) return { kind: 'over' }
  const [person, requester] = [parseUserSubject(by), parseUserSubject(grant.spec.requestedBy)]
  if (person === undefined || (host !== undefined && person.host !== host))
    return refused(reasons.notAPerson, `${by} is not a person on the GitHub of the Installation`)
  const isRequester = person.host === requester?.host && person.userId === requester.userId
  if (by === grant.spec.requestedBy || isRequester)
    return refused(reasons.ownRequest, `${by} requested the grant and cannot answer for it: another admin of the tenant must`)
  // What else is halted keeps the grant itself from giving tokens.
  const ofPeople = halts.filter(({ spec }) => spec.target.type === 'Person')
  const halt = haltOf(ofPeople, { namespace: approval.metadata.namespace, requestedBy: by })
  return halt === undefined ? { kind: 'counts' } : refused(reasons.personHalted, `${by} is ${haltedText(halt)}`)
}

function refused(reason: string, message: string): Standing {
  return { kind: 'refused', reason, message }
}

/** Of those in the namespace of the grant. The order does not matter. */
export function answersOf(approvals: readonly GrantApproval[], facts: ApprovalFacts): Answers {
  const counting = approvals
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .filter(approval => standingOfApproval(approval, facts).kind === 'counts')
    .toSorted((a, b) => compareText(a.metadata.name, b.metadata.name))
  const denial = counting.find(({ spec }) => spec.answer !== 'Approve')
  const approvedBy = counting.filter(({ spec }) => spec.answer === 'Approve').map(({ spec }) => spec.requestedBy)
  const ends = counting.map(approval => endOfApproval(approval).getTime())
  return {
    approvedBy: [...new Set(approvedBy)].toSorted(compareText),
    denial: denial && { name: denial.metadata.name, by: denial.spec.requestedBy, reason: denial.spec.reason },
    until: ends.length === 0 ? undefined : new Date(Math.min(...ends)),
  }
}

const maxDigest = 1000

/** Equal as long as the answers decide the same; undefined without any. People read it, too: of many, the first are named. */
export function answersDigest({ approvedBy, denial }: Answers): string | undefined {
  if (approvedBy.length === 0 && denial === undefined) return undefined
  const text = [...(denial === undefined ? [] : [`Deny ${denial.name}`]), ...approvedBy].join(', ')
  if (text.length <= maxDigest) return text
  const all = createHash('sha256').update(text).digest('hex')
  return `${text.slice(0, maxDigest - all.length - 2)}… ${all}`
}
