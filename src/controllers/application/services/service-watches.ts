// What of services wakes an Application, beside its own ServiceBindings: instances and buckets that it uses, and their classes.
import type { Application } from '../../../api/apps/application.ts'
import { type KubeObject, keyOf, keyText, type ObjectKey } from '../../../api/resource.ts'
import { bucket } from '../../../api/services/bucket.ts'
import type { BoundKind } from '../../../api/services/service-binding.ts'
import { serviceClass } from '../../../api/services/service-class.ts'
import { serviceInstance } from '../../../api/services/service-instance.ts'
import type { Cache } from '../../../kube/cache/object-cache.ts'
import { type Watch, watches } from '../../../kube/controller/controller.ts'
import { partChanged } from '../../../kube/controller/predicates.ts'
import { type ApplicationCaches, serviceClassIndex, serviceIndex } from '../caches.ts'

export function serviceWatches({
  applications,
  serviceInstances,
  buckets,
}: Pick<ApplicationCaches, 'applications' | 'serviceInstances' | 'buckets'>): readonly Watch[] {
  const using = (kind: BoundKind, service: KubeObject): readonly ObjectKey[] => usersOf(applications, kind, service)
  const ofInstance = (one: KubeObject): readonly ObjectKey[] => using('ServiceInstance', one)
  const ofBucket = (one: KubeObject): readonly ObjectKey[] => using('Bucket', one)
  return [
    watches(serviceInstance, ofInstance, {
      predicate: partChanged(({ metadata, spec }) => [metadata.uid, metadata.deletionTimestamp, spec.class]),
    }),
    watches(bucket, ofBucket, {
      predicate: partChanged(({ metadata, spec }) => [metadata.uid, metadata.deletionTimestamp, spec.class]),
    }),
    watches(
      serviceClass,
      ({ metadata }) => [
        ...serviceInstances.byIndex(serviceClassIndex, metadata.name).flatMap(ofInstance),
        ...buckets.byIndex(serviceClassIndex, metadata.name).flatMap(ofBucket),
      ],
      { predicate: partChanged(({ metadata, spec }) => [metadata.uid, metadata.deletionTimestamp, spec]) },
    ),
  ]
}

function usersOf(applications: Pick<Cache<Application>, 'byIndex'>, kind: BoundKind, service: KubeObject): readonly ObjectKey[] {
  return applications.byIndex(serviceIndex, `${kind}/${keyText(keyOf(service))}`).map(keyOf)
}
