// A scenario of the sweep: the controllers that it covers, its environment, the actions of a person or an external system, and
// the state to compare at the end. It acts on the external systems only and waits for their state, so that it continues while
// the process is dead.
import type { ResourceType } from '../../src/api/resource.ts'
import type { Environment, EnvironmentRequest } from './environment/environment.ts'

export type Scenario = {
  readonly name: string
  /** The controllers that it covers, by the names under which the controllers and the broker add them to the manager. */
  readonly controllers: readonly string[]
  readonly environment: EnvironmentRequest
  /** How much later the process is restarted, by its clock: longer than the leases and delays that a crash leaves behind. */
  readonly awayMilliseconds?: number
  /**
   * How many times as fast as time the clock of the process runs, default 1: for waits of the product between two writes of its
   * own.
   */
  readonly clockRate?: number
  /** Nothing is counted and no crash happens before this resolves. */
  readonly prepare?: (environment: Environment) => Promise<void>
  /** Resolves when the requested state is reached. Runs once, across the crash. */
  readonly act: (environment: Environment) => Promise<void>
  /**
   * The crash points of the short form: `all`, in each run, or by their text those of the controllers that it covers and the
   * first of writes that leave the same behind. Absent: any point around any write. A commit chooses some of them.
   */
  readonly shortPoints?: RegExp | 'all'
  /** Writes that the process repeats whatever happens, so that their number depends on how long a run takes: no crash points. */
  readonly periodicWrites?: RegExp
  /** Kinds whose objects are compared at the end. */
  readonly compares: readonly ResourceType[]
  /** Further state to compare. */
  readonly more?: (environment: Environment) => Promise<unknown>
}
