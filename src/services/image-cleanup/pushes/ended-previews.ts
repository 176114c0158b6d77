// Has the images of previews that have ended checked now instead of after a day. It decides nothing about them: the check asks
// the API server. While pods of the preview end it may be too early, so it is repeated with backoff (soon for two minutes); the
// daily check of every image finds the rest.
import { exponential } from '../../../lib/backoff.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { ImageRecords } from '../../../store/builds/image-records.ts'

export type EndedPreviewsDeps = {
  readonly images: Pick<ImageRecords, 'previewOwners' | 'hasten'>
  /** The uids of the RemoteSyncs that exist, from a cache. */
  readonly remoteSyncs: () => Iterable<string>
  readonly clock: Pick<Clock, 'now'>
}

/** One look reads everything in a namespace: when many pull requests are closed at once, their images go one after the other. */
const maxAtOnce = 5
const waits = { baseMilliseconds: 5_000, capMilliseconds: 3_600_000 }
/** Two minutes: pods of most previews have ended by then, whatever `gracePeriodSeconds` says (30 when omitted). */
const quickLooks = 24
/** The last one comes about three quarters of an hour after the end. */
const maxLooks = 32

type Ended = { readonly looks: number; readonly nextAt: number }

/** `looks`: how many there were. */
function waitAfter(looks: number): number {
  return exponential(waits, looks - quickLooks + 1)
}

/**
 * Those with the fewest looks first, so that what ends now waits for nothing that has ended before; of these, those that are
 * due for longest.
 */
function byTurn([, a]: readonly [string, Ended], [, b]: readonly [string, Ended]): number {
  return a.looks - b.looks || a.nextAt - b.nextAt
}

// Memory (ended previews): RemoteSync of a preview that is gone → how often its images were looked at, when next
//   life: while images of it are recorded
//   bound: previews whose images are recorded
//   freshness: the end of the last image
//   replicas: leader only; the next looks at once, and then as rarely as at those that ended long ago
/** Rejects when the database does not answer. Each call brings forward the looks at the images of at most five previews. */
export function createEndedPreviews({ images, remoteSyncs, clock }: EndedPreviewsDeps): (registry: string) => Promise<void> {
  let ended: ReadonlyMap<string, Ended> | undefined

  return async registry => {
    const owners = await images.previewOwners(registry)
    const present = new Set(owners.length === 0 ? [] : remoteSyncs())
    const now = clock.now().getTime()
    // What a process finds at its start may have ended long ago, such as a preview whose image a branch runs.
    const begin = { looks: ended === undefined ? quickLooks - 1 : 0, nextAt: now }
    const before = ended
    const known = new Map(owners.filter(uid => !present.has(uid)).map(uid => [uid, before?.get(uid) ?? begin] as const))
    ended = known
    const due = [...known]
      .filter(([, { nextAt, looks }]) => nextAt <= now && looks < maxLooks)
      .toSorted(byTurn)
      .slice(0, maxAtOnce)
    if (due.length === 0) return
    await images.hasten(
      registry,
      due.map(([uid]) => uid),
      new Date(now),
    )
    for (const [uid, { looks }] of due) known.set(uid, { looks: looks + 1, nextAt: now + waitAfter(looks + 1) })
  }
}
