// Which pull requests to ask GitHub about now, which statements on one can approve its head, and which approvals have ended.
// Pure.
import { maxRows } from '../../api/apps/app-pipeline/status.ts'
import type { ApprovalWay, PreviewApproval } from '../../api/apps/preview-approval.ts'
import { approves, previewApprovalReasons as reasons } from '../../api/apps/preview-approval.ts'
import { userSubject } from '../../api/names.ts'
import type { ApprovalStatement, DiscussedPullRequest } from '../../github/index.ts'
import { findCondition, type WantedCondition } from '../../kube/object/conditions.ts'
import { haltOf } from '../../policy/halt.ts'
import { isSettled } from '../kit/repository/change-times.ts'
import { soonest } from '../kit/soonest.ts'
import type { Facts, PreviewRow } from './gather.ts'
import type { Asked } from './last-asked.ts'

/** Anybody can comment and so wake the AppPipeline: one pull request is not asked about more often. */
export const pauseMilliseconds = 5000
/** The rest of many waiting pull requests follows after a pause, those first that were not asked about for the longest time. */
export const maxAskedAtOnce = 20
/**
 * Anybody can write the command, and review: so many of each are asked about, those first who spoke last. Each costs two
 * requests.
 */
export const maxPeople = 5
/** By then the rows show a push that came before the approval: an approval that is older and for another head has ended. */
const settledMilliseconds = 600_000

/**
 * The longest time between two questions about one pull request. GitHub does not promise that every comment and review changes
 * the time of the pull request, and who spoke may get write access afterwards.
 */
export const cooldownMilliseconds = 6 * 3_600_000

/** Whether the list shows a change that came after the last question; a list can be older than it. */
function isLater(updatedAt: string | undefined, asked: string | undefined): boolean {
  return updatedAt !== undefined && (asked === undefined || Date.parse(updatedAt) > Date.parse(asked))
}

/** The rows to ask about now, and in how many milliseconds others are due; undefined when none is. */
export type Plan = { readonly ask: readonly PreviewRow[]; readonly requeueAfterMilliseconds: number | undefined }

/** `resyncMilliseconds`: how long GitHub may go unasked when no webhook comes. */
export function planQuestions(facts: Facts, resyncMilliseconds: number): Plan {
  const { rows, pipeline, installation, repository, now, asked, approvals } = facts
  if (pipeline.spec.policy.forks === 'Never' || installation === undefined || repository === undefined)
    return { ask: [], requeueAfterMilliseconds: undefined }
  const head = { pipeline: pipeline.metadata.uid ?? '', repository: repository.id }
  const isApproved = ({ number, headCommit }: PreviewRow): boolean =>
    approvals.some(approval => approves(approval, { ...head, number, headCommit }))
  const waits = rows.filter(row => row.state === 'WaitingForApproval' && !isApproved(row))
  const pauseAfter = (last: Asked, updatedAt: string | undefined): number => {
    if (last.isDue || isLater(updatedAt, last.updatedAt)) return pauseMilliseconds
    const isAnswered = isSettled({ at: last.at, time: last.updatedAt }, updatedAt)
    return isAnswered ? Math.max(cooldownMilliseconds, resyncMilliseconds) : resyncMilliseconds
  }
  const dueIn = ({ number, headCommit, updatedAt }: PreviewRow): number => {
    const last = asked.get(number)
    if (last === undefined || last.headCommit !== headCommit) return 0
    return pauseAfter(last, updatedAt) - (now.getTime() - last.at.getTime())
  }
  const askedAt = ({ number }: PreviewRow): number => asked.get(number)?.at.getTime() ?? 0
  const due = waits.filter(row => dueIn(row) <= 0).sort((a, b) => askedAt(a) - askedAt(b))
  const ask = due.slice(0, maxAskedAtOnce)
  const later = waits.filter(row => !ask.includes(row)).map(row => Math.max(pauseMilliseconds, dueIn(row)))
  return { ask, requeueAfterMilliseconds: soonest(...later) }
}

/** A statement and how it was made. */
export type Candidate = { readonly by: ApprovalStatement['by']; readonly via: ApprovalWay }

export type Discussion = {
  readonly pullRequest: DiscussedPullRequest
  readonly comments: readonly ApprovalStatement[]
  readonly reviews: readonly ApprovalStatement[]
}

/** The people whose write access, if they have it, approves the present head; each once, by id. Who spoke last comes first. */
export function candidatesOf(facts: Facts, { pullRequest, comments, reviews }: Discussion): readonly Candidate[] {
  const { pipeline } = facts
  const { author, headCommit, headOwnerId } = pullRequest
  const newest = (statements: readonly ApprovalStatement[], via: ApprovalWay): readonly Candidate[] =>
    firstOfEach(statements.toReversed().flatMap(({ by, headCommit: said }) => (said === headCommit ? [{ by, via }] : [])))
  // Whoever has write access may open a pull request of somebody else's fork, whose owner pushes to it afterwards.
  const trusts = pipeline.spec.policy.forks === 'Trusted' && author !== undefined && author.id === headOwnerId
  return firstOfEach([
    ...newest(reviews, 'Review').slice(0, maxPeople),
    ...newest(comments, 'Comment').slice(0, maxPeople),
    ...(trusts ? [{ by: author, via: 'Trusted' } as const] : []),
  ]).filter(({ by }) => !isHalted(facts, by.id))
}

/** The word of a person who is halted does not count, although GitHub still lets them write to the repository. */
function isHalted({ pipeline, installation, halts }: Facts, userId: number): boolean {
  if (installation === undefined) return false
  const requestedBy = userSubject(installation.spec.account.host, userId)
  return haltOf(halts, { namespace: pipeline.metadata.namespace, requestedBy }) !== undefined
}

function firstOfEach(candidates: readonly Candidate[]): readonly Candidate[] {
  const known = new Set<number>()
  return candidates.filter(({ by }) => !known.has(by.id) && known.add(by.id))
}

/** Whether the head of the pull request may be approved at all: it is open, and its commits are in another repository. */
export function mayBeApproved({ repository }: Facts, { isOpen, headCommit, headRepositoryId }: DiscussedPullRequest): boolean {
  return isOpen && headRepositoryId !== repository?.id && /^[0-9a-f]{40}$/.test(headCommit)
}

type Standing = { readonly kind: 'holds' | 'superseded' | 'unknown' | 'ended' }

/**
 * What became of an approval. Only what the list of open pull requests says ends one, never its absence: `unknown` while the
 * list is not complete, and for an approval that may be newer than the list.
 */
export function standingOf({ rows, isListed, repository, now }: Facts, { metadata, spec }: PreviewApproval): Standing {
  const row = rows.find(({ number }) => number === spec.number)
  const isOfRepository = spec.repository === repository?.id
  if (isOfRepository && row?.headCommit === spec.headCommit) return { kind: 'holds' }
  // Of very many open pull requests, some have no row.
  const isLeftOut = row === undefined && rows.length >= maxRows
  if (!isListed || isLeftOut || repository === undefined) return { kind: 'unknown' }
  const isSettled = now.getTime() - Date.parse(metadata.creationTimestamp ?? '') > settledMilliseconds
  if (isSettled) return { kind: 'ended' }
  return row === undefined ? { kind: 'unknown' } : { kind: 'superseded' }
}

/** In how many milliseconds the first approval that does not hold can be ended; undefined when there is none. */
export function nextEnd(facts: Facts): number | undefined {
  const open = facts.approvals.filter(approval => standingOf(facts, approval).kind === 'superseded')
  const ends = open.map(
    ({ metadata }) => Date.parse(metadata.creationTimestamp ?? '') + settledMilliseconds - facts.now.getTime() + 1000,
  )
  return ends.length === 0 ? undefined : Math.max(1000, Math.min(...ends))
}

/** The condition Ready; undefined while nothing is known that would change it. */
export function readyOf(facts: Facts, approval: PreviewApproval): WantedCondition | undefined {
  const { kind } = standingOf(facts, approval)
  const { headCommit, number } = approval.spec
  if (kind === 'superseded') {
    const message = `pull request ${number} has another head commit now, which needs an approval of its own`
    return { type: 'Ready', status: 'False', reason: reasons.superseded, message }
  }
  if (kind === 'holds' || findCondition(approval.status?.conditions, 'Ready') === undefined)
    return {
      type: 'Ready',
      status: 'True',
      reason: reasons.approved,
      message: `commit ${headCommit} of pull request ${number} may be built and run`,
    }
  return undefined
}
