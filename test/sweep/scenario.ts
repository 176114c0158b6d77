// What a scenario of the sweep is: which controllers it is for, how its environment begins, what a person or the outside does to it, and what
// of the end counts. It acts on the outside systems only and waits for their state, so that it goes on unmoved while the process dies.
import type { ResourceType } from '../../src/api/resource.ts'
import type { Environment, EnvironmentRequest } from './environment/environment.ts'

export type Scenario = {
  readonly name: string
  /** The controllers it is the scenario of, by the names under which the controllers and the broker add them to the manager. */
  readonly controllers: readonly string[]
  readonly environment: EnvironmentRequest
  /** How much later the process comes back, by its clock: longer than the leases and waits that a crash leaves behind. */
  readonly awayMilliseconds?: number
  /** Until here nothing is counted and nothing dies. */
  readonly prepare?: (environment: Environment) => Promise<void>
  /** Resolves when what was asked for is there. Runs once, through the crash. */
  readonly act: (environment: Environment) => Promise<void>
  /** Kinds whose objects count in the end. */
  readonly sees: readonly ResourceType[]
  /** What else counts. */
  readonly more?: (environment: Environment) => Promise<unknown>
}
