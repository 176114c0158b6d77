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

/** One approval that counts. */
export type CountedApproval = { readonly by: string; readonly reason: string }

/** An approval of a platform admin in an emergency. */
export type BreakGlass = CountedApproval & { readonly name: string; readonly until: Date }

/** The answers that count; `approvals` has each person once, in the order of their names. */
export type Answers = {
  readonly approvals: readonly CountedApproval[]
  /** What stands for all approvals that are missing; of several, the one that stands longest. */
  readonly breakGlass: BreakGlass | undefined
  readonly denial: (CountedApproval & { readonly name: string }) | undefined
  /** When the first of the approvals ends; undefined without any. */
  readonly until: Date | undefined
}

/** Nobody answered. */
export const noAnswers: Answers = { approvals: [], breakGlass: undefined, denial: undefined, until: undefined }

/** The end of an approval; undefined for a denial, which holds until its author takes it back. */
export function endOfApproval({ metadata, spec }: GrantApproval): Date | undefined {
  if (spec.answer !== 'Approve') return undefined
  // The API server always sets it: without it, the approval has ended.
  return new Date((Date.parse(metadata.creationTimestamp ?? '') || 0) + spec.lifetimeSeconds * 1000)
}

/** Whether it is about this very object. */
export function isAbout({ spec }: GrantApproval, grant: RepositoryGrant | undefined): boolean {
  const uid = grant?.metadata.uid
  return uid !== undefined && grant?.metadata.name === spec.grant.name && uid === spec.grant.uid
}

/** Whether a platform admin gave it in an emergency. */
export function isBreakGlass({ spec }: GrantApproval): boolean {
  return spec.breakGlass === true
}

/** Whether an answer counts; one that is over will never count again, and `refused` one may. */
export type Standing =
  | { readonly kind: 'counts' }
  | { readonly kind: 'over'; readonly message: string }
  | ({ readonly kind: 'refused' } & Refusal)

/** `others`: the answers that name the grant, this one may be among them. */
export function standingOfApproval(
  approval: GrantApproval,
  { grant, host, halts, now }: ApprovalFacts,
  others: readonly GrantApproval[],
): Standing {
  const { requestedBy: by, answer } = approval.spec
  if (grant === undefined || !isAbout(approval, grant)) return over('the grant is gone')
  const end = endOfApproval(approval)
  if (end !== undefined && end.getTime() <= now.getTime()) return over('it has expired')
  if (grant.status?.endedApprovals?.some(({ uid }) => uid === approval.metadata.uid))
    return over('its author has left the organization')
  if (others.some(other => replaces(other, approval))) return over('the same person has answered again')
  const [person, requester] = [parseUserSubject(by), parseUserSubject(grant.spec.requestedBy)]
  // Whoever administers the platform need not be on GitHub: admission lets nobody else create one.
  if (!isBreakGlass(approval) && (person === undefined || (host !== undefined && person.host !== host)))
    return refused(reasons.notAPerson, `${by} is not a person on the GitHub of the Installation`)
  if (by === grant.spec.requestedBy || (person && person.host === requester?.host && person.userId === requester.userId))
    return over('who requested a grant cannot answer for it')
  // A denial gives nothing. If a Halt took it out, the requester could, with one of their own.
  const halt = answer === 'Approve' ? personHalt(halts, approval) : undefined
  return halt === undefined ? { kind: 'counts' } : refused(reasons.personHalted, `${by} is ${haltedText(halt)}`)
}

const over = (message: string): Standing => ({ kind: 'over', message })

function refused(reason: string, message: string): Standing {
  return { kind: 'refused', reason, message }
}

/** What else is halted keeps the grant itself from giving tokens. */
function personHalt(halts: readonly Halt[], { metadata, spec }: GrantApproval): Halt | undefined {
  const ofPeople = halts.filter(halt => halt.spec.target.type === 'Person')
  return haltOf(ofPeople, { namespace: metadata.namespace, requestedBy: spec.requestedBy })
}

/** One answer of a person stands: the newest; of one second the one that denies, then the one with the higher UID. */
function replaces(other: GrantApproval, { metadata, spec }: GrantApproval): boolean {
  const isSame = other.spec.requestedBy === spec.requestedBy && other.spec.grant.uid === spec.grant.uid
  // An emergency ends by itself: what the same person answered before stands then.
  const isAlike = isBreakGlass(other) === (spec.breakGlass === true)
  const order =
    compareText(other.metadata.creationTimestamp ?? '', metadata.creationTimestamp ?? '') ||
    Number(other.spec.answer !== 'Approve') - Number(spec.answer !== 'Approve') ||
    compareText(other.metadata.uid ?? '', metadata.uid ?? '')
  return isSame && isAlike && order > 0 && other.metadata.deletionTimestamp === undefined
}

/** Of those that name the grant. The order does not matter. */
export function answersOf(approvals: readonly GrantApproval[], facts: ApprovalFacts): Answers {
  const counting = approvals
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .filter(approval => standingOfApproval(approval, facts, approvals).kind === 'counts')
    .toSorted((a, b) => compareText(a.metadata.name, b.metadata.name))
  const denial = counting.find(({ spec }) => spec.answer !== 'Approve')
  const approving = counting.filter(({ spec }) => spec.answer === 'Approve')
  const inEmergency = approving
    .filter(isBreakGlass)
    .flatMap(breakGlassOf)
    .toSorted((a, b) => b.until.getTime() - a.until.getTime())
  const byPerson = new Map(
    approving.filter(approval => !isBreakGlass(approval)).map(({ spec: { requestedBy: by, reason } }) => [by, { by, reason }]),
  )
  const ends = approving.flatMap(approval => endOfApproval(approval)?.getTime() ?? [])
  return {
    approvals: [...byPerson.values()].toSorted((a, b) => compareText(a.by, b.by)),
    breakGlass: inEmergency[0],
    denial: denial && { name: denial.metadata.name, by: denial.spec.requestedBy, reason: denial.spec.reason },
    until: ends.length === 0 ? undefined : new Date(Math.min(...ends)),
  }
}

function breakGlassOf(approval: GrantApproval): readonly BreakGlass[] {
  const until = endOfApproval(approval)
  const { requestedBy: by, reason } = approval.spec
  return until === undefined ? [] : [{ name: approval.metadata.name, by, reason, until }]
}

const maxDigest = 1000

/** The people whose approvals a digest names; of very many the first. */
export function approversIn(digest: string | undefined): readonly string[] {
  return (digest ?? '').split(', ').filter(name => parseUserSubject(name) !== undefined)
}

/** Equal as long as the answers decide the same; undefined without any. People read it, too: of many, the first are named. */
export function answersDigest({ approvals, breakGlass, denial }: Answers): string | undefined {
  if (approvals.length === 0 && breakGlass === undefined && denial === undefined) return undefined
  const denied = denial === undefined ? [] : [`Deny ${denial.name} of ${denial.by}`]
  const opened = breakGlass === undefined ? [] : [`BreakGlass ${breakGlass.name} of ${breakGlass.by}`]
  const text = [...denied, ...opened, ...approvals.map(({ by }) => by)].join(', ')
  if (text.length <= maxDigest) return text
  const all = createHash('sha256').update(text).digest('hex')
  return `${text.slice(0, maxDigest - all.length - 2)}… ${all}`
}
