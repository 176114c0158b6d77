// Previews that were deleted a short while ago: a merge closes the pull request, so its preview goes at about the time at which
// the branch is looked at. Deliberately not stored: after a restart the branch is built.
import { BoundedMap } from '../../../lib/bounded-map.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { BuiltPreview } from './built-preview.ts'

const lifeMilliseconds = 3_600_000
/** Of one namespace, so that no tenant displaces the previews of another. */
const maxOfNamespace = 100
const maxNamespaces = 10_000

type Remembered = { readonly preview: BuiltPreview; readonly until: number }

export type RecentPreviews = {
  /** `uid` of the RemoteSync that is being deleted. */
  readonly remember: (namespace: string, uid: string, preview: BuiltPreview) => void
  readonly of: (namespace: string) => readonly BuiltPreview[]
}

// Memory (deleted previews): RemoteSync of a pull request → the image that a branch may take
//   life: an hour
//   bound: 100 of a namespace, 10,000 namespaces, the oldest forgotten first
//   freshness: the hour
//   replicas: leader only; the next builds instead
/** Empty, as after a restart. */
export function createRecentPreviews(clock: Pick<Clock, 'now'>): RecentPreviews {
  const byNamespace = new BoundedMap<BoundedMap<Remembered>>(maxNamespaces)
  return {
    remember(namespace, uid, preview) {
      const known = byNamespace.get(namespace) ?? new BoundedMap<Remembered>(maxOfNamespace)
      known.set(uid, { preview, until: clock.now().getTime() + lifeMilliseconds })
      byNamespace.set(namespace, known)
    },
    of(namespace) {
      const now = clock.now().getTime()
      return [...(byNamespace.get(namespace)?.values() ?? [])].filter(({ until }) => until > now).map(({ preview }) => preview)
    },
  }
}
