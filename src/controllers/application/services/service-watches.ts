// What of services wakes an Application, beside its own ServiceBindings: the instances that it uses, and their classes.
import type { Application } from '../../../api/apps/application.ts'
import { keyOf, keyText, type ObjectKey } from '../../../api/resource.ts'
import { serviceClass } from '../../../api/services/service-class.ts'
import { serviceInstance } from '../../../api/services/service-instance.ts'
import type { Cache } from '../../../kube/cache/object-cache.ts'
import { type Watch, watches } from '../../../kube/controller/controller.ts'
import { partChanged } from '../../../kube/controller/predicates.ts'
import { type ApplicationCaches, serviceClassIndex, serviceIndex } from '../caches.ts'

export function serviceWatches({
  applications,
  serviceInstances,
}: Pick<ApplicationCaches, 'applications' | 'serviceInstances'>): readonly Watch[] {
  const using = (instance: ObjectKey): readonly ObjectKey[] => usersOf(applications, instance)
  return [
    watches(serviceInstance, changed => using(keyOf(changed)), {
      predicate: partChanged(({ metadata, spec }) => [metadata.uid, metadata.deletionTimestamp, spec.class]),
    }),
    watches(
      serviceClass,
      changed => serviceInstances.byIndex(serviceClassIndex, changed.metadata.name).flatMap(one => using(keyOf(one))),
      { predicate: partChanged(({ metadata, spec }) => [metadata.uid, metadata.deletionTimestamp, spec]) },
    ),
  ]
}

function usersOf(applications: Pick<Cache<Application>, 'byIndex'>, instance: ObjectKey): readonly ObjectKey[] {
  return applications.byIndex(serviceIndex, keyText(instance)).map(keyOf)
}
