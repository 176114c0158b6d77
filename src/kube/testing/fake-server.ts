// An API server's memory for the reflector's property test: objects with versions, a log of events that can be cut off, watches
// that can be dropped at any point. It answers through the same two methods that the reflector uses.
import type { Snapshot, WatchEvent } from '../client/client.ts'
import { KubeError } from '../client/errors.ts'
import type { Thing } from './objects.ts'
import { thing } from './objects.ts'

type Entry = { readonly version: number; readonly event: WatchEvent<Thing> }

export type FakeServer = {
  readonly put: (name: string, data: string) => void
  readonly remove: (name: string) => void
  /** Every open watch ends: with a broken connection, or with what is given (`ended`: in order). */
  readonly drop: (how?: KubeError | 'ended') => void
  /** Against the protocol: the next event is never told. */
  readonly lose: () => void
  /** Against the protocol: tells again what it told `back` events before the last. */
  readonly repeat: (back: number) => void
  /** What happened up to now can no longer be watched from. */
  readonly compact: () => void
  /** The next requests fail with a 500. */
  readonly failNext: (count: number) => void
  readonly bookmark: () => void
  readonly objects: () => readonly Thing[]
  readonly snapshot: () => Promise<Snapshot<Thing>>
  readonly watch: (from: string, signal: AbortSignal) => AsyncGenerator<WatchEvent<Thing>, void, undefined>
}

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

  function tell(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: Thing): void {
    if (!losing) log.push({ version, event: { type, object, resourceVersion: String(version) } })
    losing = false
    ring()
  }

  function ring(): void {
    wake.resolve()
    wake = Promise.withResolvers<void>()
  }

  function failIfTold(): void {
    if (failing === 0) return
    failing -= 1
    throw new KubeError('told to fail', { status: 500, reason: 'InternalError' })
  }

  return {
    put(name, data) {
      version += 1
      const old = objects.get(name)
      const uid = old?.metadata.uid ?? `uid-${++uids}`
      const object = thing(name, { uid, resourceVersion: String(version) }, data)
      objects.set(name, object)
      tell(old === undefined ? 'ADDED' : 'MODIFIED', object)
    },
    remove(name) {
      const old = objects.get(name)
      if (old === undefined) return
      version += 1
      objects.delete(name)
      tell('DELETED', { ...old, metadata: { ...old.metadata, resourceVersion: String(version) } })
    },
    drop(how = new KubeError('dropped', { status: 0, reason: 'Unreachable' })) {
      generation += 1
      interruption = how
      ring()
    },
    lose() {
      losing = true
    },
    repeat(back) {
      const told = log.filter(({ event }) => event.type !== 'BOOKMARK').at(-1 - back)
      if (told === undefined) return
      log.push(told)
      ring()
    },
    compact() {
      oldest = version
    },
    failNext(count) {
      failing = count
    },
    bookmark() {
      log.push({ version, event: { type: 'BOOKMARK', resourceVersion: String(version) } })
      ring()
    },
    objects: () => [...objects.values()],
    async snapshot() {
      failIfTold()
      return { items: [...objects.values()], resourceVersion: String(version) }
    },
    async *watch(from, signal) {
      failIfTold()
      const mine = generation
      let seen = Number(from)
      if (seen < oldest) throw new KubeError('too old', { status: 410, reason: 'Expired' })
      let position = log.findIndex(entry => entry.version > seen)
      if (position === -1) position = log.length
      for (;;) {
        signal.throwIfAborted()
        if (generation !== mine && interruption === 'ended') return
        if (generation !== mine) throw interruption
        const entry = log[position]
        if (entry === undefined) {
          await Promise.race([wake.promise, new Promise(resolve => signal.addEventListener('abort', resolve, { once: true }))])
          continue
        }
        position += 1
        seen = entry.version
        yield entry.event
      }
    },
  }
}
