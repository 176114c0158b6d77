// What must be known about a ServiceInstance: its Tenant, its class, and the bindings that use it. Reads caches only.

import type { ServiceBinding } from '../../api/services/service-binding.ts'
import type { ServiceClass } from '../../api/services/service-class.ts'
import type { ServiceInstance } from '../../api/services/service-instance.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'
import type { TenantsByNamespace } from '../../controllers/kit/tenants-by-namespace.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import type { DataServicesParts } from '../parts.ts'

export type Facts = {
  readonly instance: ServiceInstance
  /** The one whose namespace it is; undefined for none, or several. */
  readonly tenant: Tenant | undefined
  readonly serviceClass: ServiceClass | undefined
  readonly bindings: readonly ServiceBinding[]
}

export type GatherDeps = Pick<DataServicesParts, 'bindingsOf'> & {
  readonly classes: Pick<Cache<ServiceClass>, 'get'>
  readonly tenantsOf: TenantsByNamespace
}

export function gather({ classes, tenantsOf, bindingsOf }: GatherDeps, instance: ServiceInstance): Facts {
  const [tenant, ...others] = tenantsOf(instance.metadata.namespace ?? '')
  return {
    instance,
    tenant: others.length === 0 ? tenant : undefined,
    serviceClass: classes.get({ name: instance.spec.class }),
    bindings: bindingsOf('ServiceInstance', instance),
  }
}
