// Why a pod does not become ready: what controllers write into a status, and what `sekisho why` says.
import type { applicationReasons } from '../apps/application.ts'

export type PodProblem = {
  readonly reason: (typeof applicationReasons)[keyof typeof applicationReasons]
  readonly cause: string
  /** What the author of the Application can do. */
  readonly cure?: string
  /** The cause and the cure in one, for a status. */
  readonly message: string
}

export function problem(reason: PodProblem['reason'], cause: string, cure?: string): PodProblem {
  return cure === undefined ? { reason, cause, message: cause } : { reason, cause, cure, message: `${cause}: ${cure}` }
}
