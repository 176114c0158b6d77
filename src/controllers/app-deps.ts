// What the composition of the controllers receives from its process.
import type { Registry } from 'prom-client'
import type { Mode } from '../api/names.ts'
import type { KubeClient } from '../kube/client/client.ts'
import type { Manager } from '../kube/manager.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { ControllersStore } from '../store/store.ts'
import type { ControllersSettings } from './config.ts'

export type ControllersDeps = {
  /** Decides the ServiceAccounts that get rights in tenants' namespaces. */
  readonly mode: Mode
  readonly settings: ControllersSettings
  readonly store: ControllersStore
  readonly kube: KubeClient
  readonly manager: Manager
  readonly log: Log
  readonly clock: Clock
  /** Where the process's metrics are registered; none without it. */
  readonly metrics?: Registry
}
