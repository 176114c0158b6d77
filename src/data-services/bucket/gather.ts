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
  /** Other Buckets that have, or had, a bucket of the name that this one has or is to have. */
  readonly namesakes: readonly Bucket[]
}

export type GatherDeps = Pick<DataServicesParts, 'bindingsOf'> & {
  readonly classes: Pick<Cache<ServiceClass>, 'get'>
  readonly tenantsOf: TenantsByNamespace
  /** The Buckets that have this name in their store. */
  readonly bucketsNamed: (name: string) => readonly Bucket[]
}

export function gather({ classes, tenantsOf, bindingsOf, bucketsNamed }: GatherDeps, bucket: Bucket): Facts {
  // A name that the platform gave is nobody else's.
  const name = bucket.status?.bucket ?? bucket.spec.name
  const named = name === undefined ? [] : bucketsNamed(name)
  const [tenant, ...others] = tenantsOf(bucket.metadata.namespace ?? '')
  return {
    bucket,
    tenant: others.length === 0 ? tenant : undefined,
    serviceClass: classes.get({ name: bucket.spec.class }),
    bindings: bindingsOf('Bucket', bucket),
    namesakes: named.filter(({ metadata }) => metadata.uid !== bucket.metadata.uid),
  }
}
