// A reflector and its store on the fake server, under a clock that only moves when told. For the reflector's tests.
import { silentLog } from '../../lib/log.ts'
import { createFakeClock } from '../../lib/testing/fake-clock.ts'
import { createObjectStore } from '../cache/object-cache.ts'
import { createReflector, type WatchEnd } from '../cache/reflector.ts'
import type { WatchOptions } from '../client/client.ts'
import { createFakeServer, type FakeServer } from './fake-server.ts'
import { type Thing, things } from './objects.ts'

export function reflect(prepare: (server: FakeServer) => void = () => {}) {
  const server = createFakeServer()
  prepare(server)
  const clock = createFakeClock()
  const store = createObjectStore<Thing>()
  const stop = new AbortController()
  let lists = 0
  const ends: WatchEnd[] = []
  const briefs: boolean[] = []
  const reflector = createReflector<Thing>({
    // The fake knows one kind, whose type the reflector asks for.
    client: {
      snapshot: (() => {
        lists += 1
        return server.snapshot()
      }) as never,
      watch: ((_: unknown, options: WatchOptions) => {
        briefs.push(options.brief ?? false)
        return server.watch(options.resourceVersion, options.signal)
      }) as never,
    },
    type: things,
    scope: {},
    store,
    clock,
    random: () => 0.5,
    log: silentLog,
    onWatchEnd: end => ends.push(end),
  })
  const ended = reflector.run(stop.signal)
  return {
    server,
    clock,
    store,
    reflector,
    lists: () => lists,
    ends,
    /** Of each watch in turn: whether it was to be a brief one. */
    briefs,
    async stop() {
      stop.abort()
      await ended
    },
  }
}
