// Whether a Tenant's namespaces may be filled: a list of checks in order, each with its reason. Pure.
import { tenantReasons as reasons } from '../../api/tenant.ts'
import type { Facts } from './gather.ts'

export type Verdict =
  | { readonly kind: 'fill' }
  | { readonly kind: 'stop'; readonly reason: string; readonly message: string; readonly retry: boolean }

type Check = (facts: Facts) => Verdict | undefined

const checks: readonly Check[] = [
  // A namespace that somebody else made is somebody else's: taking it over would hand its contents to the tenant.
  ({ namespaces }) => {
    const taken = namespaces.find(({ state }) => state === 'taken')
    return taken && { kind: 'stop', reason: reasons.namespaceTaken, message: takenMessage(taken.name), retry: false }
  },
  // What is being deleted cannot be filled; it is made anew when it is gone.
  ({ namespaces }) => {
    const ending = namespaces.find(({ state }) => state === 'ending')
    const message = `namespace ${ending?.name} is being deleted; it is made anew when it is gone`
    return ending && { kind: 'stop', reason: reasons.terminating, message, retry: true }
  },
]

export function takenMessage(name: string): string {
  return `namespace ${name} exists and was not made for this Tenant: delete it, or make a Tenant with another namespace`
}

export function decide(facts: Facts): Verdict {
  for (const check of checks) {
    const verdict = check(facts)
    if (verdict) return verdict
  }
  return { kind: 'fill' }
}
