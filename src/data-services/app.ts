// Composes the process data-services: one controller for each kind of services, and the servers that they share. Controllers and
// caches are added to the manager here, so create the app before `manager.start()`.
import { Registry } from 'prom-client'
import type { KubeClient } from '../kube/client/client.ts'
import type { Manager } from '../kube/manager.ts'
import { createEventRecorder } from '../kube/object/events.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { createBucketController } from './bucket/index.ts'
import { createLockGuard } from './lock-guard.ts'
import { createStatementCounter } from './metrics.ts'
import { createParts } from './parts.ts'
import { createServiceBindingController } from './service-binding/index.ts'
import { createServiceClassController } from './service-class/index.ts'
import { createServiceInstanceController } from './service-instance/index.ts'

export type DataServicesDeps = {
  readonly manager: Manager
  readonly kube: KubeClient
  readonly clock: Clock
  readonly log: Log
  readonly metrics?: Registry
}

export type DataServicesApp = {
  /** The loops, which wait until this process leads. The controllers start with the manager. */
  readonly start: () => Promise<void>
  /** Writes the Events that are left and ends the connections. After the manager has stopped. */
  readonly stop: () => Promise<void>
}

export function createDataServicesApp({
  manager,
  kube,
  clock,
  log,
  metrics = new Registry(),
}: DataServicesDeps): DataServicesApp {
  const events = createEventRecorder({
    client: kube,
    clock,
    log: log.child({ process: 'data-services' }),
    component: 'sekisho-data-services',
  })
  const parts = createParts({ manager, events, clock, countStatements: createStatementCounter(metrics) })
  manager.add(createServiceClassController(parts))
  manager.add(createServiceInstanceController(parts))
  manager.add(createBucketController(parts))
  manager.add(createServiceBindingController(parts))
  const lockGuard = createLockGuard({ ...parts, manager, log })
  return {
    async start() {
      lockGuard.start()
    },
    async stop() {
      await lockGuard.stop()
      await events.flush()
      await parts.servers.close()
    },
  }
}
