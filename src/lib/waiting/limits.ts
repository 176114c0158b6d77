// How long tests and tools wait, each idea once. All are granted time (granted-time.ts): what the work takes on a machine
// that is free for it.
import { type Environment, processEnvironment } from '../config.ts'

/** In milliseconds. The first serves nearly every wait. */
export const limits = {
  /** A controller, a process, the API server, a policy in force. */
  usual: 30_000,
  /** Pods that start or end, and periods of Kubernetes' own, such as the 30 s after which quotas are counted. */
  rollout: 90_000,
  /** An image that is built, and what runs it afterwards. */
  build: 240_000,
  /** Several whole minutes of a limit, of a clock or of very many objects. */
  minutes: 600_000,
} as const

/** A wait is given up after this many times its limit, whatever the machine does. */
export const maxTimesTheLimit = 4

/** Holds the factor of the machine (dev/test/calibration.ts) for the processes that a run starts. */
export const factorVariable = 'SEKISHO_MACHINE_FACTOR'

/** How many times slower than the reference this machine is, from 1 to 4; 1 when it was not measured. */
export function machineFactor(environment: Environment = processEnvironment()): number {
  const factor = Number(environment[factorVariable])
  return factor >= 1 ? Math.min(factor, maxTimesTheLimit) : 1
}

/**
 * Of a whole test or hook, in milliseconds: what its own work may take on the reference machine, and one wait of at most
 * `wait` at its bound, so that the wait fails first and says for what.
 */
export function timeLimit(ownMilliseconds: number, wait: number = limits.usual): number {
  return ownMilliseconds * machineFactor() + wait * maxTimesTheLimit
}
