// Wires the controller of Buckets. Decides nothing.
import { keyOf } from '../../api/resource.ts'
import { bucket } from '../../api/services/bucket.ts'
import { serviceBinding } from '../../api/services/service-binding.ts'
import { serviceClass } from '../../api/services/service-class.ts'
import { tenant } from '../../api/tenancy/tenant.ts'
import { createStatusWriter } from '../../controllers/kit/status-writer.ts'
import { tenantsByNamespace } from '../../controllers/kit/tenants-by-namespace.ts'
import { type ControllerDefinition, watches } from '../../kube/controller/controller.ts'
import type { DataServicesParts } from '../parts.ts'
import { fieldManager, reconcileBucket } from './reconcile.ts'

const byNamespace = 'bucket/namespace'
const byStoreName = 'bucket/store-name'

/** Call before the manager starts: caches cannot be added later. */
export function createBucketController(parts: DataServicesParts): ControllerDefinition {
  const { manager, events, clock, servers, bucketUsage, bucketsOf, bindingsOf } = parts
  const { client } = manager
  const cache = manager.cache(bucket)
  cache.addIndex(byNamespace, ({ metadata }) => [metadata.namespace ?? ''])
  cache.addIndex(byStoreName, ({ status }) => (status?.bucket === undefined ? [] : [status.bucket]))
  const bucketsNamed = (name: string) => cache.byIndex(byStoreName, name)
  const eventsOn = ['WithinPlan', 'Ready']
  const status = createStatusWriter({ type: bucket, fieldManager, client, cache, events, eventsOn })
  const classes = manager.cache(serviceClass)
  const tenantsOf = tenantsByNamespace(manager.cache(tenant))
  const deps = { cache, classes, tenantsOf, bindingsOf, bucketsNamed, client, status, events, servers, bucketUsage, clock }
  return {
    name: 'bucket',
    for: bucket,
    watches: [
      watches(serviceClass, ({ metadata }) => bucketsOf(metadata.name).map(keyOf)),
      watches(tenant, ({ spec }) => cache.byIndex(byNamespace, spec.namespace).map(keyOf)),
      // The last ServiceBinding of a Bucket that is being deleted ends it.
      watches(
        serviceBinding,
        ({ metadata: { namespace = '' }, spec: { service } }) =>
          service.kind === 'Bucket' ? [{ namespace, name: service.name }] : [],
        { predicate: ({ new: present }) => present === undefined },
      ),
    ],
    reconcile: context => reconcileBucket(deps, context),
  }
}
