// Whether an Installation holds: checks in order, each with its reason and the cure. Pure. A refuted binding ends the tokens under it; while
// GitHub does not answer, what held before keeps holding for a day, because an outage of GitHub must not stop what runs.
import { installationReasons as reasons } from '../../api/github/installation.ts'
import { findCondition, type WantedCondition } from '../../kube/object/conditions.ts'
import { type Check, firstRefusal, type Refusal } from '../../policy/check.ts'
import { permissionAbove } from '../../policy/permission-level.ts'
import { retryMilliseconds } from '../github-unreachable.ts'
import type { Facts } from './gather.ts'

type InstallationRefusal = Refusal & {
  /** Unknown when GitHub did not answer. Absent means False: the binding does not hold. */
  readonly status?: 'Unknown'
  /** Set where nothing wakes the controller when the answer changes. */
  readonly retryAfterMilliseconds?: number
}

export type Decision = {
  readonly verified: WantedCondition
  readonly ready: WantedCondition
  /** The binding does not hold: active tokens under it must end. */
  readonly revoke: boolean
  /** GitHub confirmed everything, the owner included, just now. */
  readonly confirmed: boolean
  readonly retryAfterMilliseconds: number | undefined
}

const graceMilliseconds = 86_400_000
/** GitHub may accept a key that it refused once, without a change of the App that would wake the Installation. */
const appRetryMilliseconds = 120_000

/** Stops an Installation whose App has no key, or a key that GitHub does not accept. */
const appIsUsable: Check<Facts, InstallationRefusal> = ({ answer, object: { spec } }) => {
  if (answer.kind !== 'app-not-ready') return undefined
  const message = `ClusterGitHubApp ${spec.app} cannot be used: ${answer.message}`
  return { reason: reasons.appNotReady, message, retryAfterMilliseconds: appRetryMilliseconds }
}

/** Stops while GitHub does not answer. */
const gitHubAnswers: Check<Facts, InstallationRefusal> = ({ answer }) => {
  if (answer.kind !== 'unreachable') return undefined
  const { message } = answer
  return { status: 'Unknown', reason: reasons.unreachable, message, retryAfterMilliseconds: retryMilliseconds(answer) }
}

/** Stops an installation that was removed on GitHub. */
const exists: Check<Facts, InstallationRefusal> = ({ answer, object: { spec } }) => {
  if (answer.kind !== 'absent') return undefined
  const message = `GitHub knows no installation ${spec.installationId} of this App: install it again and onboard again`
  return { reason: reasons.notFound, message }
}

/** Stops an installation of another App. */
const isOfThisApp: Check<Facts, InstallationRefusal> = ({ answer }) => {
  if (answer.kind !== 'found' || answer.installation.appId === answer.appId) return undefined
  const message = `the installation belongs to App ${answer.installation.appId}, not to App ${answer.appId}`
  return { reason: reasons.appMismatch, message }
}

/** Stops an installation on another account than the one that was bound; compares ids and types, never logins. */
const isOnBoundAccount: Check<Facts, InstallationRefusal> = ({ answer, object: { spec } }) => {
  if (answer.kind !== 'found') return undefined
  const { id, type } = answer.installation.account
  if (id === spec.account.id && type === spec.account.type) return undefined
  const message = `the installation is on ${type} ${id}, not on ${spec.account.type} ${spec.account.id}`
  return { reason: reasons.accountMismatch, message }
}

/** Stops a proof that does not fit the type of the account. */
const proofFitsAccount: Check<Facts, InstallationRefusal> = ({ answer, object: { spec } }) => {
  if (answer.kind !== 'found') return undefined
  const { id, type } = answer.installation.account
  const method = type === 'Organization' ? 'OrganizationOwner' : 'AccountHolder'
  if (spec.proof.method === method && (type !== 'User' || spec.boundBy.id === id)) return undefined
  const message = `the proof ${spec.proof.method} by ${spec.boundBy.id} proves nothing about ${type} ${id}`
  return { reason: reasons.accountMismatch, message }
}

/** Stops an installation that is suspended on GitHub. */
const isNotSuspended: Check<Facts, InstallationRefusal> = ({ answer }) => {
  const suspendedAt = answer.kind === 'found' ? answer.installation.suspendedAt : undefined
  if (suspendedAt === undefined) return undefined
  const message = `suspended on GitHub since ${suspendedAt.toISOString()}: unsuspend it in the App's settings there`
  return { reason: reasons.suspended, message }
}

/** Stops a ceiling that allows grants more than GitHub allows the installation. */
const ceilingIsWithinGitHub: Check<Facts, InstallationRefusal> = ({ answer, object: { spec } }) => {
  const above = answer.kind === 'found' ? permissionAbove(spec.ceiling.permissions, answer.installation.permissions) : undefined
  const message = `the ceiling has ${above}, which GitHub no longer grants: onboard again`
  return above === undefined ? undefined : { reason: reasons.ceilingAboveGitHub, message }
}

/** Stops a binding by a person who no longer owns the account. */
const binderIsOwner: Check<Facts, InstallationRefusal> = ({ answer }) =>
  answer.kind === 'found' && answer.owner.kind === 'not-owner'
    ? { reason: reasons.ownerLost, message: answer.owner.message }
    : undefined

const checks: readonly Check<Facts, InstallationRefusal>[] = [
  appIsUsable,
  gitHubAnswers,
  exists,
  isOfThisApp,
  isOnBoundAccount,
  proofFitsAccount,
  isNotSuspended,
  ceilingIsWithinGitHub,
  binderIsOwner,
]

/** Verified reports the checks; Ready also tolerates a short outage of GitHub. */
export function decide(facts: Facts): Decision {
  const { answer } = facts
  const refusal = firstRefusal(checks, facts)
  const { status = 'False', reason, message } = refusal ?? confirmation(facts)
  const verified: WantedCondition = { type: 'Verified', status, reason, message }
  return {
    verified,
    ready: { ...readiness(facts, verified), type: 'Ready' },
    revoke: status === 'False',
    confirmed: status === 'True' && answer.kind === 'found' && answer.owner.kind !== 'not-due',
    retryAfterMilliseconds: refusal?.retryAfterMilliseconds,
  }
}

function confirmation({ answer }: Facts): Pick<WantedCondition, 'status' | 'reason' | 'message'> {
  const ownerUnknown = answer.kind === 'found' && answer.owner.kind === 'not-checkable'
  const message = ownerUnknown
    ? 'GitHub confirms the installation; the App may not read members, so the owner was proved on the day of binding only'
    : 'GitHub confirms the installation and its owner'
  return { status: 'True', reason: reasons.verified, message }
}

/** As verified; but what GitHub confirmed within the last day stays ready while GitHub does not answer. */
function readiness({ object, askedAt }: Facts, verified: WantedCondition): WantedCondition {
  if (verified.status !== 'Unknown') return verified
  const { conditions, verifiedAt } = object.status ?? {}
  const wasReady = findCondition(conditions, 'Ready')?.status === 'True'
  const recent = verifiedAt !== undefined && askedAt.getTime() - Date.parse(verifiedAt) < graceMilliseconds
  if (!wasReady || !recent) return verified
  return { ...verified, status: 'True', message: `GitHub does not answer; it last confirmed the installation at ${verifiedAt}` }
}
