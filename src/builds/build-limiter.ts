// Limits concurrent builds. Decides by `nextTurns`, keeps the queue, and counts a build that was just admitted as running until the cache
// shows it; without that, two reconciles at once could both take the last free slot. One per process; only the leader builds.
// Deciding and recording happen in one synchronous step, so a build that ends afterwards finds every queued owner.
import type { ObjectKey } from '../api/resource.ts'
import type { Clock } from '../lib/clock.ts'
import { nextTurns, sharerText } from '../policy/fair-share.ts'
import type { Builder, BuildKey, BuildOwner, RunningBuild } from './builder.ts'
import { placeOf, placeText, type QueuedBuild, queuedMessage } from './queue.ts'

export type SlotOutcome =
  | { readonly kind: 'acquired' }
  /** `place`: such as `3 of 5`. */
  | { readonly kind: 'queued'; readonly message: string; readonly place: string }

export type BuildLimiter = {
  /** Takes a slot for the build, or queues it. An owner has one place in the queue: a newer build replaces the older one. Idempotent. */
  readonly tryAcquire: (owner: BuildOwner, build: QueuedBuild) => SlotOutcome
  /**
   * Takes a slot for work that may wait: only while no build is queued, while the tenant builds nothing, and while less than half of the slots are in
   * use. It keeps no place in the queue. Idempotent.
   */
  readonly tryAcquireIdle: (owner: BuildOwner, build: RunningBuild) => boolean
  /** Frees the slot of a build that could not be started. */
  readonly release: (key: BuildKey) => void
  /** Must be called for every owner that does not wait for a slot (any more): its place in the queue would block the others. */
  readonly dequeue: (ownerUid: string) => void
  /** The owners of this kind and key are gone, except the one of this uid: frees their places and their slots. */
  readonly leave: (owner: Omit<BuildOwner, 'uid'>, except?: string) => void
  /** The owners of one kind to wake when a build begins or ends. */
  readonly queued: (kind: string) => readonly ObjectKey[]
}

/** Longer than a fetch may take. A slot that is older belongs to a build that started and ended unobserved. */
const slotMilliseconds = 300_000

/** Running builds are those of `builder`, and slots acquired for builds that it does not show yet. A restart loses the queue, which refills. */
export function createBuildLimiter(
  builder: Pick<Builder, 'running' | 'known'>,
  options: { readonly clock: Clock; readonly platformBuilds: number },
): BuildLimiter {
  const { clock, platformBuilds } = options
  const acquired = new Map<string, RunningBuild & { readonly owner: BuildOwner; readonly until: number }>()
  const queue = new Map<string, { readonly owner: BuildOwner; readonly build: QueuedBuild }>()

  function running(): readonly RunningBuild[] {
    const now = clock.now().getTime()
    for (const [text, { tenant, name, until }] of acquired)
      if (until <= now || builder.known({ namespace: tenant, name })) acquired.delete(text)
    return [...builder.running(), ...acquired.values()]
  }

  const take = (owner: BuildOwner, { tenant, name }: RunningBuild): void =>
    void acquired.set(sharerText({ tenant, name }), { tenant, name, owner, until: clock.now().getTime() + slotMilliseconds })

  return {
    tryAcquireIdle(owner, build) {
      const occupied = running()
      if (acquired.has(sharerText(build))) return true
      const isBusy = queue.size > 0 || occupied.length >= platformBuilds / 2
      if (isBusy || occupied.some(({ tenant }) => tenant === build.tenant)) return false
      take(owner, build)
      return true
    },
    tryAcquire(owner, build) {
      const occupied = running()
      const text = sharerText(build)
      if (acquired.has(text)) return { kind: 'acquired' }
      queue.set(owner.uid, { owner, build })
      const queued = [...queue.values()].map(entry => entry.build)
      if (!nextTurns(occupied, queued, platformBuilds).has(text))
        return {
          kind: 'queued',
          message: queuedMessage(build, { running: occupied, queued, platformLimit: platformBuilds }),
          place: placeText(placeOf(build, queued)),
        }
      queue.delete(owner.uid)
      take(owner, build)
      return { kind: 'acquired' }
    },
    release: ({ namespace, name }) => void acquired.delete(sharerText({ tenant: namespace, name })),
    dequeue: ownerUid => void queue.delete(ownerUid),
    leave(owner, except) {
      const gone = (other: BuildOwner): boolean =>
        other.uid !== except && other.kind === owner.kind && other.namespace === owner.namespace && other.name === owner.name
      for (const [uid, entry] of queue) if (gone(entry.owner)) queue.delete(uid)
      for (const [text, slot] of acquired) if (gone(slot.owner)) acquired.delete(text)
    },
    queued(kind) {
      // A build that is observed now counts as running from now on: it may be gone again before somebody asks for a slot.
      running()
      return [...queue.values()]
        .filter(({ owner }) => owner.kind === kind)
        .map(({ owner: { namespace, name } }) => ({ namespace, name }))
    },
  }
}
