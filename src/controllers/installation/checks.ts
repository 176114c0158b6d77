// What must hold for an Installation: checks in order, each with its reason and the cure. Pure. The owner comes last, because
// only this check costs a token: it is not made for an Installation that is refused anyway.
import { isAnsweredFor, installationReasons as reasons } from '../../api/github/installation.ts'
import { findCondition } from '../../kube/object/conditions.ts'
import { defined } from '../../lib/json/defined.ts'
import { type Check, firstRefusal } from '../../policy/check.ts'
import { permissionAbove } from '../../policy/permission-level.ts'
import { retryMilliseconds } from '../kit/github-unreachable.ts'
import type { Refusal } from '../kit/refusal.ts'
import type { Facts } from './facts.ts'

/** The status is Unknown when GitHub did not answer, else False: the binding does not hold. */
export type InstallationRefusal = Refusal & { readonly status?: 'Unknown' }

/** GitHub may accept a key that it refused once, without a change of the App that would wake the Installation. */
const appRetryMilliseconds = 120_000

const shortestRetryMilliseconds = 30_000
const maxRetryMilliseconds = 600_000

/** As long again as the condition has failed already, so that the waits double. */
function growing({ object, askedAt }: Facts, shortest: number): number {
  const before = findCondition(object.status?.conditions, 'Verified')
  const failing = before === undefined || before.status === 'True' ? 0 : askedAt.getTime() - Date.parse(before.lastTransitionTime)
  return Math.min(maxRetryMilliseconds, Math.max(shortest, failing))
}

/** Stops an Installation whose App has no key, or a key that GitHub does not accept. */
const appIsUsable: Check<Facts, InstallationRefusal> = facts => {
  const { answer, object } = facts
  if (answer.kind !== 'app-not-ready') return undefined
  const message = `ClusterGitHubApp ${object.spec.app} cannot be used: ${answer.message}`
  return { reason: reasons.appNotReady, message, requeueAfterMilliseconds: growing(facts, appRetryMilliseconds) }
}

/** Stops while GitHub does not answer. */
const gitHubAnswers: Check<Facts, InstallationRefusal> = facts => {
  const { answer } = facts
  if (answer.kind !== 'unreachable') return undefined
  const { message } = answer
  const requeueAfterMilliseconds = retryMilliseconds(answer, growing(facts, shortestRetryMilliseconds))
  return { status: 'Unknown', reason: reasons.unreachable, message, requeueAfterMilliseconds }
}

/** GitHub may not know an installation everywhere for some seconds after it was made; nothing wakes its Installation then. */
const newMilliseconds = 120_000
const newRetryMilliseconds = 5000

/** Whether an installation that GitHub does not know may be one that it does not know yet. */
export function isNew({ object, askedAt }: Pick<Facts, 'object' | 'askedAt'>): boolean {
  const age = askedAt.getTime() - Date.parse(object.metadata.creationTimestamp ?? '')
  return object.status?.verifiedAt === undefined && age < newMilliseconds
}

/** Stops an installation that was removed on GitHub. */
const exists: Check<Facts, InstallationRefusal> = facts => {
  const { answer, object } = facts
  const { spec } = object
  if (answer.kind !== 'absent') return undefined
  const message = `GitHub knows no installation of ClusterGitHubApp ${spec.app} on ${spec.account.login} with the id ${spec.installationId}: install the App again and onboard again`
  const again = isNew(facts) ? { requeueAfterMilliseconds: newRetryMilliseconds } : {}
  return { reason: reasons.notFound, message, ...again }
}

/** Stops an installation of another App. */
const isOfThisApp: Check<Facts, InstallationRefusal> = ({ answer, object }) => {
  if (answer.kind !== 'found' || answer.installation.appId === answer.appId) return undefined
  const message = `the installation belongs to the App with the id ${answer.installation.appId}, not to ClusterGitHubApp ${object.spec.app} (id ${answer.appId})`
  return { reason: reasons.appMismatch, message }
}

/** Stops an installation on another account than the one that was bound; compares ids and types, never logins. */
const isOnBoundAccount: Check<Facts, InstallationRefusal> = ({ answer, object: { spec } }) => {
  if (answer.kind !== 'found') return undefined
  const { id, login, type } = answer.installation.account
  if (id === spec.account.id && type === spec.account.type) return undefined
  const bound = spec.account
  const message = `the installation is on the ${type} ${login} (id ${id}), not on the ${bound.type} ${bound.login} (id ${bound.id})`
  return { reason: reasons.accountMismatch, message }
}

/** Stops a proof that does not fit the type of the account. */
const proofFitsAccount: Check<Facts, InstallationRefusal> = ({ answer, object: { spec } }) => {
  if (answer.kind !== 'found') return undefined
  const { id, login, type } = answer.installation.account
  const method = type === 'Organization' ? 'OrganizationOwner' : 'AccountHolder'
  if (spec.proof.method === method && (type !== 'User' || spec.boundBy.id === id)) return undefined
  const message = `the proof ${spec.proof.method} by ${spec.boundBy.login} (id ${spec.boundBy.id}) proves nothing about the ${type} ${login} (id ${id})`
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

/**
 * Stops a binding of a person who left, when the one who answered for it stands in no more and GitHub did not name another one
 * yet: what is known says no, also while GitHub does not answer.
 */
const answererStandsIn: Check<Facts, InstallationRefusal> = facts => {
  const { answer, object } = facts
  const isLearned = answer.kind !== 'unreachable' && (answer.kind !== 'found' || answer.owner.kind !== 'not-due')
  if (isLearned || isAnsweredFor(object)) return undefined
  const { boundBy, account } = object.spec
  const message = `${boundBy.login} (id ${boundBy.id}) does not own ${account.login} any more, and ${object.status?.standIn?.login} does not stand in any more: another owner takes over the binding on the page of the tenant`
  const retry = answer.kind === 'unreachable' ? retryMilliseconds(answer, growing(facts, shortestRetryMilliseconds)) : undefined
  return { reason: reasons.ownerLost, message, ...defined({ requeueAfterMilliseconds: retry }) }
}

/** Stops a binding of which nobody who confirmed it owns the account, until a later check finds that one of them does. */
const anOwnerAnswers: Check<Facts, InstallationRefusal> = ({ answer, object: { spec, status } }) => {
  if (answer.kind !== 'found') return undefined
  const { owner } = answer
  if (owner.kind === 'not-owner') return { reason: reasons.ownerLost, message: owner.message }
  if (owner.kind !== 'not-due' || status?.ownerLostAt === undefined) return undefined
  const before = findCondition(status.conditions, 'Verified')
  const message = `${spec.boundBy.login} (id ${spec.boundBy.id}) was not an owner at ${status.ownerLostAt}: another owner takes over the binding on the page of the tenant, or onboards the account again`
  return { reason: reasons.ownerLost, message: before?.reason === reasons.ownerLost ? before.message : message }
}

const checksWithoutOwner: readonly Check<Facts, InstallationRefusal>[] = [
  appIsUsable,
  gitHubAnswers,
  exists,
  isOfThisApp,
  isOnBoundAccount,
  proofFitsAccount,
  isNotSuspended,
  ceilingIsWithinGitHub,
]

/** The first refusal; undefined when everything holds. */
export function refusalOf(facts: Facts): InstallationRefusal | undefined {
  return firstRefusal([answererStandsIn, ...checksWithoutOwner, anOwnerAnswers], facts)
}

/** Whether only the owner is left to check. */
export function holdsWithoutOwner(facts: Facts): boolean {
  return firstRefusal(checksWithoutOwner, facts) === undefined
}
