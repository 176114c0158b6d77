// What becomes of a DomainClaim. Pure.
import { domainClaimReasons as reasons } from '../../api/tenancy/domain-claim.ts'
import type { WantedCondition } from '../../kube/object/conditions.ts'
import type { Facts } from './gather.ts'

export type Decision = { readonly kind: 'release' } | { readonly kind: 'keep'; readonly ready: WantedCondition }

/**
 * A claim that a DNS record proved ends when nothing of the tenant uses the host any more: neither an Application that names it
 * nor an Ingress that still serves it. What a platform admin approved stays until an admin deletes it, or the Tenant is
 * deleted.
 */
export function decide({ claim, tenant, isUsed }: Facts): Decision {
  const { host, proof, tenant: named } = claim.spec
  if (proof === 'DNS' && (tenant === undefined || !isUsed)) return { kind: 'release' }
  if (tenant === undefined) {
    const message = `there is no Tenant ${named.name} with the uid ${named.uid}: delete the claim, and create it with metadata.uid of the Tenant`
    return { kind: 'keep', ready: { type: 'Ready', status: 'False', reason: reasons.tenantNotFound, message } }
  }
  const message = `${host} belongs to Tenant ${named.name}`
  return { kind: 'keep', ready: { type: 'Ready', status: 'True', reason: reasons.held, message } }
}
