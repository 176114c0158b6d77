// Our side of the bench `watch`: client, reflector and cache as the manager assembles them, with one listener that counts.
import { application } from '../../../src/api/apps/application.ts'
import { createCaches } from '../../../src/kube/cache/caches.ts'
import { createKubeClient } from '../../../src/kube/client/kube-client.ts'
import { systemClock as clock } from '../../../src/lib/clock.ts'
import { silentLog as log } from '../../../src/lib/testing/silent-log.ts'
import { dispatchCommands, liveHeapBytes } from '../harness/command-server.ts'

const random = Math.random
let changes = 0
let wanted = Number.POSITIVE_INFINITY
const reached = Promise.withResolvers<void>()

await dispatchCommands({
  async list(command) {
    const connection = {
      server: new URL(String(command['server'])),
      tls: {},
      namespace: undefined,
      authorization: async () => undefined,
    }
    const client = createKubeClient({ connection, component: 'bench', clock, random })
    const caches = createCaches({ client, clock, random, log })
    caches.subscribe(application, {}, () => {
      changes += 1
      if (changes >= wanted) reached.resolve()
    })
    caches.start()
    await caches.synced(60_000)
    changes = 0
    return { objects: caches.of(application).list().length }
  },
  /** Answers when that many changes were observed since the list. */
  async follow(command) {
    wanted = Number(command['events'])
    if (changes >= wanted) reached.resolve()
    await reached.promise
    return { changes }
  },
  memory: async () => ({ heapBytes: liveHeapBytes() }),
})
process.exit(0)
