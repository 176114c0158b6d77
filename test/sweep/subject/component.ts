// The interface of a component of the product in the process under test. Types only: loading one component must not load
// another.
import type { KubeClient } from '../../../src/kube/client/client.ts'
import type { Manager } from '../../../src/kube/manager.ts'
import type { Clock } from '../../../src/lib/clock.ts'
import type { Log } from '../../../src/lib/log.ts'
import type { RunSettings } from './messages.ts'

export type ComponentDeps = {
  readonly environment: RunSettings['environment']
  readonly kube: KubeClient
  readonly manager: Manager
  readonly log: Log
  readonly clock: Clock
}

export type OpenComponent = (deps: ComponentDeps) => Promise<{
  readonly start: () => Promise<unknown>
  readonly stop: () => Promise<void>
  /** Closes its store, after `stop`. */
  readonly close: () => Promise<void>
}>
