// Whether a Tenant's namespaces may be filled, and whether the filled ones can be used: checks in order, each with its reason
// and the cure. Pure.
import type { ResourceQuota } from '../../api/builtin/index.ts'
import { tenantReasons as reasons } from '../../api/tenancy/tenant.ts'
import { maxUserRanges } from '../../lib/limits/user-range.ts'
import { type Check, firstRefusal } from '../../policy/check.ts'
import type { TenantCredentials } from '../../services/registry/tenant-registry.ts'
import type { Refusal } from '../kit/refusal.ts'
import type { Facts } from './gather.ts'
import type { ClassNames } from './runtime/choose-classes.ts'

/** Known once the namespaces are written, whether they can be used or not. */
type Written = { readonly classes?: ClassNames }

/** `imagesAreOpen`: the registry asks for no credential. */
export type Decision =
  | (Written & { readonly kind: 'fill'; readonly imagesAreOpen?: boolean; readonly firstUser?: number })
  | (Written & { readonly kind: 'refused' } & Refusal)

const terminatingRetryMilliseconds = 3_000
const uncountedRetryMilliseconds = 300
const credentialRetryMilliseconds = 30_000
const userRangeRetryMilliseconds = 60_000

/** Stops at a namespace that was not made for this Tenant: taking it over would give its contents to the tenant. */
const namespacesAreOurs: Check<Facts, Refusal> = ({ namespaces }) => {
  const taken = namespaces.find(({ state }) => state === 'taken')
  return taken && namespaceTaken(taken.name)
}

/** Stops while a namespace is being deleted: nothing can be created in it. */
const namespacesAreNotTerminating: Check<Facts, Refusal> = ({ namespaces }) => {
  const terminating = namespaces.find(({ state }) => state === 'terminating')
  const message = `namespace ${terminating?.name} is being deleted; it is recreated once it is gone`
  return terminating && { reason: reasons.terminating, message, requeueAfterMilliseconds: terminatingRetryMilliseconds }
}

const checks: readonly Check<Facts, Refusal>[] = [namespacesAreOurs, namespacesAreNotTerminating]

/** Stops a new Tenant while every range belongs to another: nothing wakes it when one ends. */
export function noUserRange(): Refusal {
  const message = `all ${maxUserRanges} ranges of user ids belong to other Tenants: delete a Tenant that is not used`
  return { reason: reasons.noUserRange, message, requeueAfterMilliseconds: userRangeRetryMilliseconds }
}

/** Also used when a namespace is taken between the check and the creation. */
export function namespaceTaken(name: string): Refusal {
  const message = `namespace ${name} exists and was not made for this Tenant: delete it, or make a Tenant with another namespace`
  return { reason: reasons.namespaceTaken, message }
}

/** Whether the cluster has counted everything that the quota names. */
export function isCounted(quota: ResourceQuota | undefined): boolean {
  const used = quota?.status?.used
  return used !== undefined && Object.keys(quota?.spec?.hard ?? {}).every(name => Object.hasOwn(used, name))
}

/**
 * Stops a filled namespace until the quota controller has counted once: before that, the API server refuses to create what a
 * quota names.
 */
export const quotasAreCounted: Check<readonly (ResourceQuota | undefined)[], Refusal> = quotas => {
  if (quotas.every(isCounted)) return undefined
  const message = 'the cluster has not counted the quota yet: nothing can be created before that'
  return { reason: reasons.quotaNotCounted, message, requeueAfterMilliseconds: uncountedRetryMilliseconds }
}

/** Stops a tenant whose pods cannot start. A change of the RuntimeClass wakes the controller. */
export function classesAreUsable(problem: string | undefined): Refusal | undefined {
  return problem === undefined ? undefined : { reason: reasons.runtimeClassNotUsable, message: problem }
}

/**
 * Stops a tenant without credentials for the registry: its builds could push nothing. Nothing watches the Secret that an admin
 * makes.
 */
export const credentialsExist: Check<TenantCredentials, Refusal> = credentials => {
  if (credentials.kind !== 'missing') return undefined
  const { message } = credentials
  return { reason: reasons.registryCredentialMissing, message, requeueAfterMilliseconds: credentialRetryMilliseconds }
}

/**
 * Decides from the namespaces alone, with what holds one that is being deleted; the quotas are checked after the namespaces are
 * filled.
 */
export function decide(facts: Facts, held?: string): Decision {
  const refusal = firstRefusal(checks, facts)
  if (refusal?.reason === reasons.terminating && held !== undefined)
    return { kind: 'refused', ...refusal, reason: reasons.namespaceHeld, message: held }
  return refusal ? { kind: 'refused', ...refusal } : { kind: 'fill' }
}
