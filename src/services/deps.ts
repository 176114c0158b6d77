// What the process gives to each of its services.
import type { Registry } from 'prom-client'
import type { KubeClient } from '../kube/client/client.ts'
import type { Manager } from '../kube/manager.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { ControllersStore } from '../store/store.ts'

export type ServiceDeps<Settings> = {
  readonly settings: Settings
  readonly store: ControllersStore
  readonly kube: KubeClient
  readonly manager: Manager
  readonly log: Log
  readonly clock: Clock
  /** Where the process's metrics are registered; none without it. */
  readonly metrics?: Registry
}
