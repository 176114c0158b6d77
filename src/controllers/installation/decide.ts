// Whether an Installation holds: a list of checks in order, each with its reason. Pure. What is refuted ends the tokens under it; what
// could not be learned keeps what held before for a day, because GitHub being away is no reason to stop what runs.
import { type Installation, installationReasons as reasons } from '../../api/github/installation.ts'
import type { ReportedPermissions } from '../../github/index.ts'
import { findCondition } from '../../kube/object/conditions.ts'
import type { Facts } from './gather.ts'

type Finding = { readonly status: 'True' | 'False' | 'Unknown'; readonly reason: string; readonly message: string }

export type Verdict = {
  readonly verified: Finding
  readonly ready: Finding
  /** The binding does not hold: live tokens under it must end. */
  readonly revoke: boolean
  /** GitHub confirmed everything just now. */
  readonly confirmed: boolean
  readonly retryAfterMilliseconds?: number
}

const graceMilliseconds = 86_400_000
const appRetryMilliseconds = 120_000

type Check = (facts: Facts) => Finding | undefined

function refuted(reason: string, message: string): Finding {
  return { status: 'False', reason, message }
}

const checks: readonly Check[] = [
  // There is an App to ask as, and GitHub accepts its key.
  ({ answer, object }) =>
    answer.kind === 'app-not-ready'
      ? refuted(reasons.appNotReady, `ClusterGitHubApp ${object.spec.app} cannot be used: ${answer.message}`)
      : undefined,
  // GitHub answers.
  ({ answer }) =>
    answer.kind === 'unreachable' ? { status: 'Unknown', reason: reasons.unreachable, message: answer.message } : undefined,
  // The installation is there.
  ({ answer, object }) =>
    answer.kind === 'absent'
      ? refuted(
          reasons.notFound,
          `GitHub knows no installation ${object.spec.installationId} of this App: install it again and onboard again`,
        )
      : undefined,
  // It is of this very App.
  ({ answer }) =>
    answer.kind === 'found' && answer.installation.appId !== answer.appId
      ? refuted(reasons.appMismatch, `the installation is of App ${answer.installation.appId}, not of App ${answer.appId}`)
      : undefined,
  // It is on the account that was bound, by id and type, and the proof fits the type.
  ({ answer, object: { spec } }) => {
    if (answer.kind !== 'found') return undefined
    const { id, type } = answer.installation.account
    if (id !== spec.account.id || type !== spec.account.type)
      return refuted(
        reasons.accountMismatch,
        `the installation is on ${type} ${id}, not on ${spec.account.type} ${spec.account.id}`,
      )
    const method = type === 'Organization' ? 'OrganizationOwner' : 'AccountHolder'
    if (spec.proof.method !== method || (type === 'User' && spec.boundBy.id !== id))
      return refuted(
        reasons.accountMismatch,
        `the proof ${spec.proof.method} by ${spec.boundBy.id} proves nothing about ${type} ${id}`,
      )
    return undefined
  },
  // It is not suspended.
  ({ answer }) =>
    answer.kind === 'found' && answer.installation.suspendedAt !== undefined
      ? refuted(
          reasons.suspended,
          `suspended on GitHub since ${answer.installation.suspendedAt.toISOString()}: unsuspend it in the App's settings there`,
        )
      : undefined,
  // What grants may reach at most is within what GitHub gives.
  ({ answer, object }) => {
    const above = answer.kind === 'found' ? permissionAbove(object, answer.installation.permissions) : undefined
    return above === undefined
      ? undefined
      : refuted(reasons.ceilingAboveGitHub, `the ceiling has ${above}, which GitHub no longer grants: onboard again`)
  },
  // Who bound it still owns it.
  ({ answer }) =>
    answer.kind === 'found' && answer.owner.kind === 'not-owner' ? refuted(reasons.ownerLost, answer.owner.message) : undefined,
]

const levels: readonly (string | undefined)[] = [undefined, 'read', 'write', 'admin']

function permissionAbove(object: Installation, reported: ReportedPermissions): string | undefined {
  const above = Object.entries(object.spec.ceiling.permissions).find(
    ([name, level]) => levels.indexOf(level) > levels.indexOf(reported[name]),
  )
  return above && `${above[0]}: ${above[1]}`
}

function firstFinding(facts: Facts): Finding {
  for (const check of checks) {
    const finding = check(facts)
    if (finding) return finding
  }
  const { answer } = facts
  const ownerUnknown = answer.kind === 'found' && answer.owner.kind === 'not-checkable'
  const message = ownerUnknown
    ? 'GitHub confirms the installation; the App may not read members, so the owner was proved on the day of binding only'
    : 'GitHub confirms the installation and its owner'
  return { status: 'True', reason: reasons.verified, message }
}

export function decide(facts: Facts): Verdict {
  const verified = firstFinding(facts)
  const { answer } = facts
  return {
    verified,
    ready: readiness(facts, verified),
    revoke: verified.status === 'False',
    confirmed: verified.status === 'True' && answer.kind === 'found' && answer.owner.kind !== 'not-due',
    ...retry(answer),
  }
}

/** Nothing wakes us when GitHub answers again, or takes a key that it refused once although the App did not change. */
function retry(answer: Facts['answer']): Pick<Verdict, 'retryAfterMilliseconds'> {
  if (answer.kind === 'app-not-ready') return { retryAfterMilliseconds: appRetryMilliseconds }
  if (answer.kind !== 'unreachable') return {}
  return { retryAfterMilliseconds: Math.max(30, answer.retryAfterSeconds ?? 0) * 1000 }
}

function readiness({ object, askedAt }: Facts, verified: Finding): Finding {
  if (verified.status !== 'Unknown') return verified
  const { conditions, verifiedAt } = object.status ?? {}
  const wasReady = findCondition(conditions, 'Ready')?.status === 'True'
  const recent = verifiedAt !== undefined && askedAt.getTime() - Date.parse(verifiedAt) < graceMilliseconds
  if (wasReady && recent)
    return { status: 'True', reason: verified.reason, message: `GitHub does not answer; confirmed last at ${verifiedAt}` }
  return verified
}
