// An API server in memory for the reflector's property test: objects with versions, a log of events that can be compacted,
// watches that can be dropped at any point. It implements the two methods that the reflector uses.
import type { Snapshot, WatchEvent } from '../client/client.ts'
import { KubeError } from '../client/errors.ts'
import type { Thing } from './objects.ts'
import { thing } from './objects.ts'

type Entry = { readonly version: number; readonly event: WatchEvent<Thing> }

export type FakeServer = {
  readonly put: (name: string, data: string) => void
  readonly remove: (name: string) => void
  /** Ends every open watch: with a broken connection, or with the given error (`ended`: in order). */
  readonly drop: (how?: KubeError | 'ended') => void
  /** Violates the protocol: the next event is never sent. */
  readonly lose: () => void
  /** Violates the protocol: sends the event again that is `back` events before the last. */
  readonly repeat: (back: number) => void
  /** Expires all versions up to now. */
  readonly compact: () => void
  /** The next requests fail with a 500. */
  readonly failNext: (count: number) => void
  readonly bookmark: () => void
  readonly objects: () => readonly Thing[]
  readonly snapshot: () => Promise<Snapshot<Thing>>
  readonly watch: (from: string, signal: AbortSignal) => AsyncGenerator<WatchEvent<Thing>, void, undefined>
}

/** A server without objects. */
export function createFakeServer(): FakeServer {
  const objects = new Map<string, Thing>()
  const log: Entry[] = []
  let version = 1
  let oldest = 0
  let uids = 0
  let failing = 0
  let losing = false
  let generation = 0
  let interruption: KubeError | 'ended' = 'ended'
  let wake = Promise.withResolvers<void>()

  function record(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: Thing): void {
    if (!losing) log.push({ version, event: { type, object, resourceVersion: String(version) } })
    losing = false
    notify()
  }

  function notify(): void {
    wake.resolve()
    wake = Promise.withResolvers<void>()
  }

  function failIfRequested(): void {
    if (failing === 0) return
    failing -= 1
    throw new KubeError('requested failure', { status: 500, reason: 'InternalError' })
  }

  function nextChange(signal: AbortSignal): Promise<unknown> {
    return Promise.race([wake.promise, new Promise(resolve => signal.addEventListener('abort', resolve, { once: true }))])
  }

  /** The end of a watch that was dropped. */
  function ended(): void {
    if (interruption !== 'ended') throw interruption
  }

  return {
    put(name, data) {
      version += 1
      const old = objects.get(name)
      const uid = old?.metadata.uid ?? `uid-${++uids}`
      const object = thing(name, { uid, resourceVersion: String(version) }, data)
      objects.set(name, object)
      record(old === undefined ? 'ADDED' : 'MODIFIED', object)
    },
    remove(name) {
      const old = objects.get(name)
      if (old === undefined) return
      version += 1
      objects.delete(name)
      record('DELETED', { ...old, metadata: { ...old.metadata, resourceVersion: String(version) } })
    },
    drop(how = new KubeError('dropped', { status: 0, reason: 'Unreachable' })) {
      generation += 1
      interruption = how
      notify()
    },
    lose() {
      losing = true
    },
    repeat(back) {
      const sent = log.filter(({ event }) => event.type !== 'BOOKMARK').at(-1 - back)
      if (sent === undefined) return
      log.push(sent)
      notify()
    },
    compact() {
      oldest = version
    },
    failNext(count) {
      failing = count
    },
    bookmark() {
      log.push({ version, event: { type: 'BOOKMARK', resourceVersion: String(version) } })
      notify()
    },
    objects: () => [...objects.values()],
    async snapshot() {
      failIfRequested()
      return { items: [...objects.values()], resourceVersion: String(version) }
    },
    async *watch(from, signal) {
      failIfRequested()
      const mine = generation
      const seen = Number(from)
      if (seen < oldest) throw new KubeError('too old', { status: 410, reason: 'Expired' })
      let position = log.findIndex(entry => entry.version > seen)
      if (position === -1) position = log.length
      for (;;) {
        signal.throwIfAborted()
        if (generation !== mine) return ended()
        const entry = log[position]
        if (entry === undefined) await nextChange(signal)
        else {
          position += 1
          yield entry.event
        }
      }
    },
  }
}
