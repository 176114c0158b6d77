// The turnstile in front of builders: decides by queue.ts, remembers who waits, and remembers, until the cache shows a build, that its
// slot is taken (without that two reconciles at once would both see the last free slot). One per process; only the leader builds.
// Deciding and remembering happen in one synchronous step: a build that ends afterwards finds everybody who waits.
import type { ObjectKey } from '../api/resource.ts'
import type { Clock } from '../lib/clock.ts'
import type { Builder, BuildKey, BuildOwner, RunningBuild } from './builder.ts'
import { buildText, nextBuilds, type QueueLimits, type WaitingBuild, waitingMessage } from './queue.ts'

export type SlotAnswer = { readonly kind: 'granted' } | { readonly kind: 'queued'; readonly message: string }

export type BuildSlots = {
  /** An owner waits for one build at most: a newer one takes the place of the older in the queue. */
  readonly take: (owner: BuildOwner, candidate: WaitingBuild, limits: QueueLimits) => SlotAnswer
  /** When the build could not be started after all. */
  readonly giveBack: (key: BuildKey) => void
  /** Must be called for every owner that does not wait (any more): who waits without wanting would block the others. */
  readonly leave: (ownerUid: string) => void
  /** Who must be woken when a build ends. */
  readonly waiting: () => readonly ObjectKey[]
}

/** Longer than a fetch may take. A reservation that old is of a build that came and went unseen. */
const reservationMilliseconds = 300_000

export function createBuildSlots(builder: Pick<Builder, 'running' | 'known'>, clock: Clock): BuildSlots {
  const reserved = new Map<string, RunningBuild & { readonly until: number }>()
  const waiting = new Map<string, { readonly key: ObjectKey; readonly build: WaitingBuild }>()

  function occupied(): readonly RunningBuild[] {
    const now = clock.now().getTime()
    for (const [text, { tenant, name, until }] of reserved)
      if (until <= now || builder.known({ namespace: tenant, name })) reserved.delete(text)
    return [...builder.running(), ...reserved.values()]
  }

  return {
    take(owner, candidate, limits) {
      const running = occupied()
      const text = buildText(candidate)
      if (reserved.has(text)) return { kind: 'granted' }
      waiting.set(owner.uid, { key: { namespace: owner.namespace, name: owner.name }, build: candidate })
      const queue = [...waiting.values()].map(item => item.build)
      if (!nextBuilds(running, queue, limits).has(text))
        return { kind: 'queued', message: waitingMessage(candidate.tenant, running, limits) }
      waiting.delete(owner.uid)
      const until = clock.now().getTime() + reservationMilliseconds
      reserved.set(text, { tenant: candidate.tenant, name: candidate.name, until })
      return { kind: 'granted' }
    },
    giveBack: ({ namespace, name }) => void reserved.delete(buildText({ tenant: namespace, name })),
    leave: ownerUid => void waiting.delete(ownerUid),
    waiting: () => [...waiting.values()].map(item => item.key),
  }
}
