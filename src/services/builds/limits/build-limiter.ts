// Limits concurrent builds. Decides by `nextTurns`, keeps the queue, and counts a build that was just admitted as running until
// the cache shows it; without that, two reconciles at once could both take the last free slot. One per process; only the leader
// builds. Deciding and recording happen in one synchronous step, so a build that ends afterwards finds every queued owner.
import type { ObjectKey } from '../../../api/resource.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { Builder, BuildKey, BuildOwner, RunningBuild } from '../builder.ts'
import { nextTurns, sharerText } from './fair-share.ts'
import { placeOf, placeText, type QueuedBuild, queuedMessage } from './queue.ts'

export type SlotOutcome =
  | { readonly kind: 'acquired' }
  /** `place`: such as `3 of 5`. */
  | { readonly kind: 'queued'; readonly message: string; readonly place: string }

export type BuildLimiter = {
  /**
   * Takes a slot for the build, or queues it. An owner has one place in the queue: a newer build replaces the older one.
   * Idempotent.
   */
  readonly tryAcquire: (owner: BuildOwner, build: QueuedBuild) => SlotOutcome
  /**
   * Takes a slot for a rebase: only where no build that waits could begin now, while the tenant builds nothing, and while
   * rebases have less than half of the slots. A build that waits for the limit of its own tenant stops no rebase of others. It
   * keeps no place in the queue. Idempotent.
   */
  readonly tryAcquireRebase: (owner: BuildOwner, build: RunningBuild) => boolean
  /**
   * The owner of this kind to wake when a build of the tenant begins or ends: of those whose rebases were refused the first
   * one, once. Undefined while the tenant builds, and when none waits. It is a hint: who was refused asks again by itself.
   */
  readonly nextRebase: (kind: string, tenant: string) => ObjectKey | undefined
  /** Frees the slot of a build that could not be started. */
  readonly release: (key: BuildKey) => void
  /** Must be called for every owner that does not wait for a slot (any more): its place in the queue would block the others. */
  readonly dequeue: (ownerUid: string) => void
  /** The owners of this kind and key are gone, except the one of this uid: frees their places and their slots. */
  readonly leave: (owner: Omit<BuildOwner, 'uid'>, except?: string) => void
  /** The owners of one kind to wake when a build begins or ends. */
  readonly queued: (kind: string) => readonly ObjectKey[]
  readonly counts: () => BuildCounts
}

/** Of the whole platform; `running` contains rebases. */
export type BuildCounts = { readonly running: number; readonly queued: number }

/** Longer than a fetch may take. A slot that is older belongs to a build that started and ended unobserved. */
const slotMilliseconds = 300_000

// Memory (build limiter): build → acquired slot; owner → place in the queue; owner → a rebase that was refused
//   life: until the cache shows the build, at most 5 minutes; until it is dequeued; until it is woken or begins
//   bound: builds and owners
//   freshness: observation, release, the end of the owner
//   replicas: leader only; the next reads running builds from the cluster, and the queue refills
/**
 * Running builds are those of `builder`, and slots acquired for builds that it does not show yet. A restart loses the queue,
 * which refills.
 */
export function createBuildLimiter(
  builder: Pick<Builder, 'running' | 'known'>,
  options: { readonly clock: Clock; readonly platformBuilds: number },
): BuildLimiter {
  const { clock, platformBuilds } = options
  const acquired = new Map<string, RunningBuild & { readonly owner: BuildOwner; readonly until: number }>()
  const queue = new Map<string, { readonly owner: BuildOwner; readonly build: QueuedBuild }>()
  /** Of rebases that were refused; by the uid of the owner, the longest wait first. */
  const refused = new Map<string, { readonly owner: BuildOwner; readonly tenant: string }>()
  const maxRebases = Math.max(1, Math.floor(platformBuilds / 2))

  function running(): readonly RunningBuild[] {
    const now = clock.now().getTime()
    for (const [text, { tenant, name, until }] of acquired)
      if (until <= now || builder.known({ namespace: tenant, name })) acquired.delete(text)
    return [...builder.running(), ...acquired.values()]
  }

  const take = (owner: BuildOwner, build: RunningBuild): void =>
    void acquired.set(sharerText(build), { ...build, owner, until: clock.now().getTime() + slotMilliseconds })

  function mayRebase({ tenant }: RunningBuild, occupied: readonly RunningBuild[]): boolean {
    if (occupied.length >= platformBuilds || occupied.some(other => other.tenant === tenant)) return false
    if (occupied.filter(({ isRebase }) => isRebase === true).length >= maxRebases) return false
    const queued = [...queue.values()].map(entry => entry.build)
    return nextTurns(occupied, queued, platformBuilds).size === 0
  }

  return {
    tryAcquireRebase(owner, build) {
      const occupied = running()
      const isAcquired = acquired.has(sharerText(build))
      if (!isAcquired && !mayRebase(build, occupied)) {
        if (!refused.has(owner.uid)) refused.set(owner.uid, { owner, tenant: build.tenant })
        return false
      }
      refused.delete(owner.uid)
      if (!isAcquired) take(owner, { tenant: build.tenant, name: build.name, isRebase: true })
      return true
    },
    nextRebase(kind, tenant) {
      if (running().some(other => other.tenant === tenant)) return undefined
      for (const [uid, { owner, ...entry }] of refused) {
        if (entry.tenant !== tenant || owner.kind !== kind) continue
        refused.delete(uid)
        return { namespace: owner.namespace, name: owner.name }
      }
      return undefined
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
      take(owner, { tenant: build.tenant, name: build.name })
      return { kind: 'acquired' }
    },
    release: ({ namespace, name }) => void acquired.delete(sharerText({ tenant: namespace, name })),
    dequeue: ownerUid => void queue.delete(ownerUid),
    leave({ kind, namespace, name }, except) {
      const gone = (other: BuildOwner): boolean =>
        other.uid !== except && other.kind === kind && other.namespace === namespace && other.name === name
      for (const waiting of [queue, refused]) for (const [uid, { owner }] of waiting) if (gone(owner)) waiting.delete(uid)
      for (const [text, slot] of acquired) if (gone(slot.owner)) acquired.delete(text)
    },
    counts: () => ({ running: running().length, queued: queue.size }),
    queued(kind) {
      // A build that is observed now counts as running from now on: it may be gone again before somebody asks for a slot.
      running()
      return [...queue.values()]
        .filter(({ owner }) => owner.kind === kind)
        .map(({ owner: { namespace, name } }) => ({ namespace, name }))
    },
  }
}
