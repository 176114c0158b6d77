// What must be known about a DomainClaim: whether its Tenant exists, and whether anything of the Tenant uses the host. From
// caches only.
import type { Application } from '../../api/apps/application.ts'
import type { Ingress } from '../../api/builtin/index.ts'
import type { DomainClaim } from '../../api/tenancy/domain-claim.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'

/** Applications by the domains that they name or redirect, Ingresses by the hosts that they serve. */
export const domainIndex = 'domain-claim/host'

export type DomainClaimCaches = {
  readonly tenants: Pick<Cache<Tenant>, 'get'>
  readonly applications: Pick<Cache<Application>, 'byIndex'>
  /** Those of Applications. */
  readonly ingresses: Pick<Cache<Ingress>, 'byIndex'>
}

export type Facts = {
  readonly claim: DomainClaim
  /** Undefined when there is none with the uid of the claim. */
  readonly tenant: Tenant | undefined
  readonly isUsed: boolean
}

/** Never writes. */
export function gather({ tenants, applications, ingresses }: DomainClaimCaches, claim: DomainClaim): Facts {
  const { host, tenant: named } = claim.spec
  const found = tenants.get({ name: named.name })
  const tenant = found?.metadata.uid === named.uid ? found : undefined
  const users = [...applications.byIndex(domainIndex, host), ...ingresses.byIndex(domainIndex, host)]
  return { claim, tenant, isUsed: users.some(({ metadata }) => metadata.namespace === tenant?.spec.namespace) }
}
