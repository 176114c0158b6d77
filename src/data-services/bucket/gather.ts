// What must be known about a Bucket: its Tenant, its class, and the bindings that use it. Reads caches only.
import type { Bucket } from '../../api/services/bucket.ts'
import type { ServiceBinding } from '../../api/services/service-binding.ts'
import type { ServiceClass } from '../../api/services/service-class.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'
import type { TenantsByNamespace } from '../../controllers/kit/tenants-by-namespace.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import type { DataServicesParts } from '../parts.ts'

export type Facts = {
  readonly bucket: Bucket
  /** The one whose namespace it is; undefined for none, or several. */
  readonly tenant: Tenant | undefined
  readonly serviceClass: ServiceClass | undefined
  readonly bindings: readonly ServiceBinding[]
}

export type GatherDeps = Pick<DataServicesParts, 'bindingsOf'> & {
  readonly classes: Pick<Cache<ServiceClass>, 'get'>
  readonly tenantsOf: TenantsByNamespace
}

export function gather({ classes, tenantsOf, bindingsOf }: GatherDeps, bucket: Bucket): Facts {
  const [tenant, ...others] = tenantsOf(bucket.metadata.namespace ?? '')
  return {
    bucket,
    tenant: others.length === 0 ? tenant : undefined,
    serviceClass: classes.get({ name: bucket.spec.class }),
    bindings: bindingsOf('Bucket', bucket),
  }
}
