// Wires the controllers that record what data-services reports. Decides nothing.
// docs/adr/0105-what-data-services-leaves-in-the-log-and-on-the-server.md
import type { ResourceType } from '../../api/resource.ts'
import { bucket } from '../../api/services/bucket.ts'
import { serviceBinding } from '../../api/services/service-binding.ts'
import { serviceInstance } from '../../api/services/service-instance.ts'
import type { ControllerDefinition } from '../../kube/controller/controller.ts'
import type { Manager } from '../../kube/manager.ts'
import type { AuditLog } from '../../store/audit/audit-log.ts'
import { createInStep } from '../kit/in-step.ts'
import { type RecordDeps, reconcileServiceRecords } from './reconcile.ts'
import { bindingRecords, type Recorded, serviceRecords } from './records.ts'

export type ServiceRecordsDeps = {
  readonly manager: Pick<Manager, 'cache' | 'client'>
  readonly audit: Pick<AuditLog, 'appendOnce' | 'list'>
}

/** Call before the manager starts: caches cannot be added later. */
export function createServiceRecordControllers({ manager, audit }: ServiceRecordsDeps): readonly ControllerDefinition[] {
  const { client } = manager
  const recording = <T extends Recorded>(
    name: string,
    type: ResourceType<T>,
    recordsOf: RecordDeps<T>['recordsOf'],
  ): ControllerDefinition => {
    const deps = { client, audit, type, cache: manager.cache(type), inStep: createInStep(), recordsOf }
    return { name, for: type, wakesOnStatus: true, reconcile: context => reconcileServiceRecords(deps, context) }
  }
  return [
    recording('service-instance-records', serviceInstance, serviceRecords),
    recording('bucket-records', bucket, serviceRecords),
    recording('service-binding-records', serviceBinding, bindingRecords),
  ]
}
