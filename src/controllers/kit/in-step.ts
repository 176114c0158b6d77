// Which objects this process has found to be as the audit log says. What is not known is compared with the log: after a start,
// after a failure, and for what is older than the records.
import { BoundedMap } from '../../lib/bounded-map.ts'

export type InStep = {
  readonly has: (uid: string) => boolean
  /** Call when the log has everything about the object and its status was written. */
  readonly add: (uid: string) => void
  /** Call before anything is written. */
  readonly forget: (uid: string) => void
}

const most = 20_000

// Memory (objects in step with the audit log): uid of a Tenant or grant, or what happened to a service → the log says it
//   life: the process
//   bound: 20,000 of each kind, the one found longest ago is compared again
//   freshness: forgotten before each write about the object, known again after it
//   replicas: leader only; the next compares each once
/** Knows nothing at first. */
export function createInStep(): InStep {
  const known = new BoundedMap<true>(most)
  return { has: uid => known.has(uid), add: uid => void known.set(uid, true), forget: uid => void known.delete(uid) }
}
