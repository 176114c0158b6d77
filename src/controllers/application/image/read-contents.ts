// Reads what images say about their processes, in the background: a registry that does not answer must not hold a worker of the
// controller. Only images of the platform's registry below the tenant's own path are read, by digest; what was read is kept
// here and in the status.
import type { Application } from '../../../api/apps/application.ts'
import { keyOf, keyText, type ObjectKey } from '../../../api/resource.ts'
import { BoundedMap } from '../../../lib/bounded-map.ts'
import { type Clock, elapsed } from '../../../lib/clock.ts'
import { messageOf } from '../../../lib/errors.ts'
import { digestOf } from '../../../lib/text/image-digest.ts'
import { placeOfImage, type RegistryPlace } from '../../../services/registry/image-place.ts'
import { type ContentsState, contentsOf, type Description, type ReadContents } from './contents.ts'
import { needsContents } from './processes.ts'

/** The images of the platform's registry. */
export type ImageReader = {
  readonly place: RegistryPlace
  /** Never rejects; answers from memory what it read before. */
  readonly labelsOf: (
    image: string,
  ) => Promise<
    | ({ readonly kind: 'labels' } & Description)
    | { readonly kind: 'unreadable'; readonly message: string; readonly permanent: boolean }
  >
}

/** Safe for concurrent use. */
export type ImageContentsReader = {
  /** What is known; starts a read when nothing is, at whose end the listeners learn of this Application. */
  readonly stateOf: (application: Application) => ContentsState
  readonly onRead: (listener: (application: ObjectKey) => void) => void
}

/** `waiting`: the Applications that asked while it was read, by their keys. */
type Entry = { readonly waiting: Map<string, ObjectKey>; answer?: ReadContents; retryAt?: number }

const maxKept = 1000
const maxAtOnce = 8
/** A place among those `maxAtOnce` is looked for so often. */
const nextPlaceMilliseconds = 1000
const retryMilliseconds = 10_000

// Memory (contents of images): image by digest → processes, and the Applications that wait for them
//   life: the process; in status.imageContents for good
//   bound: 1,000 images of at most 20 processes, the one asked for first forgotten first; 8 reads at once
//   freshness: none is needed for a digest; failures are tried again after 10 s
//   replicas: leader only; the next reads what no status has
/** Nothing is read before it is asked for. */
export function createImageContentsReader({ place, labelsOf }: ImageReader, clock: Clock): ImageContentsReader {
  const entries = new BoundedMap<Entry>(maxKept)
  const listeners: ((application: ObjectKey) => void)[] = []
  let reading = 0

  async function read(image: string, entry: Entry): Promise<void> {
    reading += 1
    try {
      const answer = await labelsOf(image)
      entry.answer = answer.kind === 'labels' ? contentsOf(image, answer) : answer
    } catch (error) {
      entry.answer = { kind: 'unreadable', message: messageOf(error), permanent: false }
    } finally {
      reading -= 1
    }
    if (entry.answer.kind === 'unreadable' && !entry.answer.permanent) entry.retryAt = elapsed(clock) + retryMilliseconds
    const waiting = [...entry.waiting.values()]
    entry.waiting.clear()
    for (const application of waiting) for (const listener of listeners) listener(application)
  }

  function stateOf(image: string, application: ObjectKey): ContentsState {
    const known = entries.get(image)
    if (known?.answer !== undefined && (known.retryAt === undefined || elapsed(clock) < known.retryAt)) return known.answer
    if (known !== undefined && known.answer === undefined) return pending(known, application)
    if (reading >= maxAtOnce) return known?.answer ?? { kind: 'pending', requeueAfterMilliseconds: nextPlaceMilliseconds }
    const entry: Entry = { waiting: new Map() }
    entries.set(image, entry)
    const state = pending(entry, application)
    void read(image, entry)
    return known?.answer ?? state
  }

  function pending({ waiting }: Entry, application: ObjectKey): ContentsState {
    waiting.set(keyText(application), application)
    return { kind: 'pending', requeueAfterMilliseconds: retryMilliseconds }
  }

  return {
    onRead: listener => void listeners.push(listener),
    stateOf(application) {
      const { spec, metadata, status } = application
      const { image } = spec
      if (image === undefined || !needsContents(spec) || digestOf(image) === undefined) return { kind: 'unread' }
      const found = placeOfImage(image, place)
      if (found.kind !== 'tenant' || found.namespace !== metadata.namespace) return { kind: 'unread' }
      const kept = status?.imageContents
      return kept?.image === image ? { kind: 'known', contents: kept } : stateOf(image, keyOf(application))
    },
  }
}
