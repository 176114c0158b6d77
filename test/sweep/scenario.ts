// A scenario of the sweep: the controllers that it covers, its environment, the actions of a person or an external system, and the state to
// compare at the end. It acts on the external systems only and waits for their state, so that it continues while the process is dead.
import type { ResourceType } from '../../src/api/resource.ts'
import type { Environment, EnvironmentRequest } from './environment/environment.ts'

export type Scenario = {
  readonly name: string
  /** The controllers that it covers, by the names under which the controllers and the broker add them to the manager. */
  readonly controllers: readonly string[]
  readonly environment: EnvironmentRequest
  /** How much later the process is restarted, by its clock: longer than the leases and delays that a crash leaves behind. */
  readonly awayMilliseconds?: number
  /** Nothing is counted and no crash happens before this resolves. */
  readonly prepare?: (environment: Environment) => Promise<void>
  /** Resolves when the requested state is reached. Runs once, across the crash. */
  readonly act: (environment: Environment) => Promise<void>
  /** Kinds whose objects are compared at the end. */
  readonly compares: readonly ResourceType[]
  /** Further state to compare. */
  readonly more?: (environment: Environment) => Promise<unknown>
}
