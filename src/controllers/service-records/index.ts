// Wires the controllers that record what data-services reports. Decides nothing.
// docs/adr/0105-what-data-services-leaves-in-the-log-and-on-the-server.md
import { bucket } from '../../api/services/bucket.ts'
import { serviceBinding } from '../../api/services/service-binding.ts'
import { serviceInstance } from '../../api/services/service-instance.ts'
import type { ControllerDefinition } from '../../kube/controller/controller.ts'
import type { Manager } from '../../kube/manager.ts'
import type { AuditLog } from '../../store/audit/audit-log.ts'
import { createInStep } from '../kit/in-step.ts'
import { reconcileServiceRecords } from './reconcile.ts'
import { bindingRecords, serviceRecords } from './records.ts'

export type ServiceRecordsDeps = {
  readonly manager: Pick<Manager, 'cache' | 'client'>
  readonly audit: Pick<AuditLog, 'appendOnce' | 'list'>
}

/** Call before the manager starts: caches cannot be added later. */
export function createServiceRecordControllers({ manager, audit }: ServiceRecordsDeps): readonly ControllerDefinition[] {
  const { client } = manager
  const ofInstances = {
    ...{ client, audit, type: serviceInstance, cache: manager.cache(serviceInstance), inStep: createInStep() },
    recordsOf: serviceRecords,
  }
  const ofBuckets = {
    ...{ client, audit, type: bucket, cache: manager.cache(bucket), inStep: createInStep() },
    recordsOf: serviceRecords,
  }
  const ofBindings = {
    ...{ client, audit, type: serviceBinding, cache: manager.cache(serviceBinding), inStep: createInStep() },
    recordsOf: bindingRecords,
  }
  return [
    {
      name: 'service-instance-records',
      for: serviceInstance,
      wakesOnStatus: true,
      reconcile: context => reconcileServiceRecords(ofInstances, context),
    },
    {
      name: 'bucket-records',
      for: bucket,
      wakesOnStatus: true,
      reconcile: context => reconcileServiceRecords(ofBuckets, context),
    },
    {
      name: 'service-binding-records',
      for: serviceBinding,
      wakesOnStatus: true,
      reconcile: context => reconcileServiceRecords(ofBindings, context),
    },
  ]
}
