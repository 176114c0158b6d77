// What to write to GitHub now: what it ought to show × what was written and when × how much may be written. Pure. One write of
// each kind in ten seconds, so that a state that lasts shorter is never seen; what was skipped or waits is written later,
// unless something else holds by then.
import { type GitHubReport, type ReportWriteKind, reportWriteKinds } from '../../api/apps/github-report.ts'
import { soonest } from '../kit/soonest.ts'
import { briefMilliseconds, type Desired } from './answer/desired.ts'

export type ReportStatus = NonNullable<GitHubReport['status']>
export type WriteRecord = NonNullable<ReportStatus['writes']>[number]

/** At most one write of each kind in this time. */
export const paceMilliseconds = 10_000
/** What GitHub refused is tried again after this time, if nothing changes: a person may have corrected it. */
export const refusedMilliseconds = 3_600_000
/** While an installation has written much, states that may be skipped are looked at again after this time. */
const busyMilliseconds = 60_000

export type DueWrite = {
  readonly kind: ReportWriteKind
  readonly hash: string
  /** It was intended before, and nobody knows whether it arrived. */
  readonly isUncertain: boolean
}

export type WritePlan = {
  /** In the order in which they are sent. */
  readonly due: readonly DueWrite[]
  /** When something is due that is not due yet, in milliseconds from now; undefined when nothing is. */
  readonly requeueAfterMilliseconds: number | undefined
  /** Nothing is left to write, except what GitHub refused. */
  readonly isSettled: boolean
}

export type WriteInput = {
  readonly desired: Desired
  readonly status: ReportStatus
  readonly now: Date
  /** Whether states that soon give way to others may be written. */
  readonly isRelaxed: boolean
}

/** What was written of a kind, if anything. */
export function recordOf({ writes }: Pick<ReportStatus, 'writes'>, kind: ReportWriteKind): WriteRecord | undefined {
  return writes?.find(record => record.kind === kind)
}

/** Strangers decide how much of this there is: about a fork of which nothing was ever built, its end included. */
export function isAboutStranger({ isUnapproved, isEnd }: Desired, { writes = [] }: ReportStatus): boolean {
  return isUnapproved || (isEnd && writes.every(({ kind }) => kind === 'Comment'))
}

/** It was intended, and nobody knows whether it arrived. */
export function isUnanswered({ intended, written, refused }: WriteRecord): boolean {
  return intended !== written && refused === undefined
}

/** The hash of a kind of write; undefined where nothing of the kind is wanted, or it has nothing to be about. */
function hashOf(
  { desired, status }: WriteInput,
  kind: ReportWriteKind,
): { readonly hash: string; readonly isPassing: boolean } | undefined {
  const deployed = recordOf(status, 'Deployment')
  switch (kind) {
    case 'Comment': {
      const exists = recordOf(status, 'Comment') !== undefined
      return desired.comment?.content.mayCreate === true || exists ? desired.comment : undefined
    }
    case 'CommitStatus':
      return desired.commitStatus
    case 'Deployment':
      return desired.deployment
    case 'DeploymentStatus': {
      if (desired.deployment === undefined) return deployed?.id === undefined ? undefined : desired.deploymentStatus
      // The commit cannot be deployed: nothing can be said about its deployment.
      const isRefused = deployed?.intended === desired.deployment.hash && deployed.refused !== undefined
      return isRefused ? undefined : desired.deploymentStatus
    }
    case 'FormerDeployment': {
      const [former] = endingDeployments(status, desired)
      return former === undefined ? undefined : { hash: former.hash, isPassing: false }
    }
  }
}

/** The deployments that have to become inactive, in order. */
function formerDeployments(
  { formerDeployments: former = [], servingDeployment }: ReportStatus,
  desired: Desired,
): readonly number[] {
  return desired.endsServing && servingDeployment !== undefined ? [...former, servingDeployment] : former
}

/** A deployment that has to become inactive: its id, or the commit of one whose id is not known. The hash names it. */
type EndingDeployment = { readonly hash: string } & (
  | { readonly id: number; readonly commit?: undefined }
  | { readonly commit: string; readonly id?: undefined }
)

/** In order. That of the wanted commit is found again when it is deployed. */
export function endingDeployments(status: ReportStatus, desired: Desired): readonly EndingDeployment[] {
  // As wide as the hashes of the others.
  const known = formerDeployments(status, desired).map(id => ({ id, hash: String(id).padStart(32, '0') }))
  const unanswered = (status.unansweredDeployments ?? []).filter(commit => commit !== desired.deployment?.content.commit)
  return [...known, ...unanswered.map(commit => ({ commit, hash: commit.slice(0, 32) }))]
}

type Judged = { readonly write: DueWrite; readonly requeueAfterMilliseconds: number }

function judge(input: WriteInput, kind: ReportWriteKind): Judged | undefined {
  const want = hashOf(input, kind)
  if (want === undefined) return undefined
  const record = recordOf(input.status, kind)
  const isNew = record?.intended !== want.hash
  // What was intended since then may be on GitHub instead, unless GitHub refused it.
  const isWritten = record?.written === want.hash && (!isNew || record.refused !== undefined)
  // A deployment that has become inactive leaves the list; it comes back when its commit was deployed again.
  const isShown = isWritten && kind !== 'FormerDeployment'
  if (isShown && (kind !== 'DeploymentStatus' || isOfPresentDeployment(input))) return undefined
  const since = record === undefined ? Number.POSITIVE_INFINITY : input.now.getTime() - Date.parse(record.intendedAt)
  const pace = !isNew && record?.refused !== undefined ? refusedMilliseconds : paceMilliseconds
  // A clock that was set back must not stop writes for the time it lost.
  const paced = since < 0 ? 0 : Math.max(0, pace - since)
  const requeueAfterMilliseconds = Math.max(
    paced,
    heldMilliseconds(input),
    want.isPassing && !input.isRelaxed ? busyMilliseconds : 0,
  )
  const isUncertain = !isNew && record?.refused === undefined
  return { write: { kind, hash: want.hash, isUncertain }, requeueAfterMilliseconds }
}

/** A time further ahead is that of a clock that was set back since. */
function heldMilliseconds({ desired, now }: WriteInput): number {
  const left = (desired.heldUntil?.getTime() ?? 0) - now.getTime()
  return left > briefMilliseconds ? 0 : Math.max(0, left)
}

/** The status was written for the deployment that holds now: a deleted deployment is made again under another id. */
function isOfPresentDeployment({ status }: WriteInput): boolean {
  return recordOf(status, 'DeploymentStatus')?.id === recordOf(status, 'Deployment')?.id
}

/** A deployment's status follows the deployment, and waits for it. */
function inOrder(judged: readonly Judged[]): readonly Judged[] {
  const deployment = judged.find(({ write }) => write.kind === 'Deployment')
  if (deployment === undefined) return judged
  return judged.map(one =>
    one.write.kind === 'DeploymentStatus'
      ? { ...one, requeueAfterMilliseconds: Math.max(one.requeueAfterMilliseconds, deployment.requeueAfterMilliseconds) }
      : one,
  )
}

/** Everything that is due now, and when to look again. */
export function decideWrites(input: WriteInput): WritePlan {
  const judged = inOrder(reportWriteKinds.flatMap(kind => judge(input, kind) ?? []))
  const due = judged.filter(({ requeueAfterMilliseconds }) => requeueAfterMilliseconds === 0).map(({ write }) => write)
  const later = judged.flatMap(({ requeueAfterMilliseconds }) => (requeueAfterMilliseconds > 0 ? [requeueAfterMilliseconds] : []))
  const isRefused = ({ write }: Judged): boolean => {
    const record = recordOf(input.status, write.kind)
    return record?.intended === write.hash && record.refused !== undefined
  }
  return {
    due,
    requeueAfterMilliseconds: soonest(...later),
    isSettled: judged.every(isRefused),
  }
}
