// Finds the images of previews that have ended, and has them looked at now instead of after a day. It decides nothing about them: that is for the looks,
// which ask the API server. What it says may be too early, while pods of the preview end; so it says it again, ever later, and at last leaves the rest to
// the looks that every image gets.
import type { Clock } from '../../lib/clock.ts'
import type { ImageRecords } from '../../store/builds/image-records.ts'

export type EndedPreviewsDeps = {
  readonly images: Pick<ImageRecords, 'previewOwners' | 'hasten'>
  /** The uids of the RemoteSyncs that exist, from a cache. */
  readonly remoteSyncs: () => Iterable<string>
  readonly clock: Pick<Clock, 'now'>
}

/** One look reads everything in a namespace: when many pull requests are closed at once, their images go one after the other. */
const mostAtOnce = 5
const firstWaitMilliseconds = 5_000
/** The last one comes about forty minutes after the end. */
const mostLooks = 10

type Ended = { readonly looks: number; readonly nextAt: number }

/** Rejects when the database does not answer. Each call brings forward the looks at the images of at most five previews. */
export function createEndedPreviews({ images, remoteSyncs, clock }: EndedPreviewsDeps): (registry: string) => Promise<void> {
  let ended: ReadonlyMap<string, Ended> = new Map()

  return async registry => {
    const owners = await images.previewOwners(registry)
    if (owners.length === 0 && ended.size === 0) return
    const present = new Set(remoteSyncs())
    const now = clock.now().getTime()
    const known = new Map(
      owners.filter(uid => !present.has(uid)).map(uid => [uid, ended.get(uid) ?? { looks: 0, nextAt: now }] as const),
    )
    const due = [...known].filter(([, { nextAt, looks }]) => nextAt <= now && looks < mostLooks).slice(0, mostAtOnce)
    ended = known
    if (due.length === 0) return
    await images.hasten(
      registry,
      due.map(([uid]) => uid),
      new Date(now),
    )
    for (const [uid, { looks }] of due) known.set(uid, { looks: looks + 1, nextAt: now + firstWaitMilliseconds * 2 ** looks })
  }
}
