// A reflector and its cache on the fake server, with a fake clock. For the reflector's tests.

import { createFakeClock } from '../../lib/testing/fake-clock.ts'
import { silentLog } from '../../lib/testing/silent-log.ts'
import { createObjectCache } from '../cache/object-cache.ts'
import { createReflector } from '../cache/reflector.ts'
import type { WatchOptions } from '../client/client.ts'
import type { WatchEnd } from '../metrics.ts'
import { createFakeServer, type FakeServer } from './fake-server.ts'
import { type Thing, things } from './objects.ts'

/** Starts the reflector after `prepare`; every test must call `stop`. */
export function reflect(prepare: (server: FakeServer) => void = () => {}) {
  const server = createFakeServer()
  prepare(server)
  const clock = createFakeClock()
  const cache = createObjectCache<Thing>()
  const stop = new AbortController()
  let lists = 0
  const ends: WatchEnd[] = []
  const briefs: boolean[] = []
  const reflector = createReflector<Thing>({
    // The fake server has one kind only.
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
    cache,
    clock,
    random: () => 0.5,
    log: silentLog,
    onWatchEnd: end => ends.push(end),
  })
  const ended = reflector.run(stop.signal)
  return {
    server,
    clock,
    cache,
    reflector,
    lists: () => lists,
    ends,
    /** For each watch in order: whether it was requested as a brief one. */
    briefs,
    async stop() {
      stop.abort()
      await ended
    },
  }
}
