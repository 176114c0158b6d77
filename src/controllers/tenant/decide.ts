// Whether a Tenant's namespaces may be filled: a list of checks in order, each with its reason. Pure.

import type { ResourceQuota } from '../../api/builtin/index.ts'
import { tenantReasons as reasons } from '../../api/tenancy/tenant.ts'
import type { Facts } from './gather.ts'

export type Verdict =
  | { readonly kind: 'fill' }
  | {
      readonly kind: 'stop'
      readonly reason: string
      readonly message: string
      /** Nothing will wake us: look again after this time. */
      readonly retryMilliseconds?: number
    }

type Check = (facts: Facts) => Verdict | undefined

const checks: readonly Check[] = [
  // A namespace that somebody else made is somebody else's: taking it over would hand its contents to the tenant.
  ({ namespaces }) => {
    const taken = namespaces.find(({ state }) => state === 'taken')
    return taken && { kind: 'stop', reason: reasons.namespaceTaken, message: takenMessage(taken.name) }
  },
  // What is being deleted cannot be filled; it is made anew when it is gone.
  ({ namespaces }) => {
    const ending = namespaces.find(({ state }) => state === 'ending')
    const message = `namespace ${ending?.name} is being deleted; it is made anew when it is gone`
    return ending && { kind: 'stop', reason: reasons.terminating, message, retryMilliseconds: 3000 }
  },
]

export function takenMessage(name: string): string {
  return `namespace ${name} exists and was not made for this Tenant: delete it, or make a Tenant with another namespace`
}

/** The cluster has counted everything that the quota names. */
export function isCounted(quota: ResourceQuota | undefined): boolean {
  const used = quota?.status?.used
  return used !== undefined && Object.keys(quota?.spec?.hard ?? {}).every(name => Object.hasOwn(used, name))
}

/**
 * Filled, but not usable yet: until the quota controller has counted once, the API server refuses every create that a quota names.
 * Undefined when all quotas are counted.
 */
export function quotaPending(quotas: readonly (ResourceQuota | undefined)[]): Verdict | undefined {
  if (quotas.every(isCounted)) return undefined
  const message = 'the cluster has not counted the quota yet: nothing can be created before'
  return { kind: 'stop', reason: reasons.quotaNotCounted, message, retryMilliseconds: 300 }
}

export function decide(facts: Facts): Verdict {
  for (const check of checks) {
    const verdict = check(facts)
    if (verdict) return verdict
  }
  return { kind: 'fill' }
}
