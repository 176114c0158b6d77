// When this process last asked GitHub for the commit of each RemoteSync. Deliberately not stored: after a restart every
// RemoteSync asks once more, which finds the pushes whose webhooks were missed meanwhile.
import { BoundedMap } from '../../lib/bounded-map.ts'

/** Beyond this many RemoteSyncs, the one whose check is the oldest is forgotten: it asks GitHub at its next reconcile. */
const maxRemoteSyncs = 100_000

/** uid → time of the last answer. */
export type LastChecks = Pick<Map<string, Date>, 'get' | 'set' | 'delete'>

// Memory (last GitHub checks): uid of a RemoteSync → when this process last asked GitHub
//   life: until deletion or restart
//   bound: 100,000, the oldest forgotten first
//   freshness: the next check
//   replicas: leader only; the next asks as after a restart
/** Empty, as after a restart. */
export function createLastChecks(): LastChecks {
  return new BoundedMap<Date>(maxRemoteSyncs)
}
