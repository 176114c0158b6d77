// Keeps a store equal to the server: list, then watch from there, for ever. Resumes where a connection ended, lists again when the
// version is too old, waits with full jitter after failures, and stops only by its signal. It decides nothing about objects.
import type { KubeObject, ResourceType } from '../api/resource.ts'
import { fullJitter } from '../lib/backoff.ts'
import type { Clock } from '../lib/clock.ts'
import { messageOf } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { KubeClient } from './client.ts'
import { isExpired, isKubeError } from './errors.ts'
import type { CacheScope, ObjectStore } from './store.ts'

export type ReflectorDeps<T extends KubeObject> = {
  readonly client: Pick<KubeClient, 'snapshot' | 'watch'>
  readonly type: ResourceType<T>
  readonly scope: CacheScope
  readonly store: ObjectStore<T>
  readonly clock: Clock
  readonly random: () => number
  readonly log: Log
}

export type Reflector = {
  /** Resolves when the signal aborts; never rejects. Call once. */
  readonly run: (signal: AbortSignal) => Promise<void>
  /** Resolves after the first complete list. Never rejects: a kind that cannot be listed is tried again and again. */
  readonly synced: Promise<void>
  /** What the last attempt failed with; undefined while things go well. */
  readonly problem: () => string | undefined
  /** When the server was last heard: a list, an event or a bookmark. */
  readonly lastHeard: () => Date | undefined
}

const backoff = { baseMilliseconds: 500, capMilliseconds: 30_000 }
// A watch that ends sooner than this without a word counts as a failure, so that a server that hangs up at once is not stormed.
const shortestWatchMilliseconds = 1000

export function createReflector<T extends KubeObject>(deps: ReflectorDeps<T>): Reflector {
  const { client, type, scope, store, clock } = deps
  const log = deps.log.child({ kind: type.kind, apiVersion: type.apiVersion })
  const first = Promise.withResolvers<void>()
  let problem: string | undefined
  let lastHeard: Date | undefined
  let failures = 0
  // Where to continue; undefined: list first.
  let resourceVersion: string | undefined

  function heard(version: string): void {
    resourceVersion = version
    lastHeard = clock.now()
    problem = undefined
    failures = 0
  }

  async function list(signal: AbortSignal): Promise<string> {
    const { items, resourceVersion: version } = await client.snapshot(type, { ...scope, signal })
    store.replace(items)
    heard(version)
    first.resolve()
    return version
  }

  async function follow(from: string, signal: AbortSignal): Promise<void> {
    const started = clock.now().getTime()
    let events = 0
    for await (const event of client.watch(type, { ...scope, resourceVersion: from, signal })) {
      events += 1
      if (event.type === 'DELETED') store.remove(event.object)
      else if (event.type !== 'BOOKMARK') store.upsert(event.object)
      heard(event.resourceVersion)
    }
    if (events === 0 && clock.now().getTime() - started < shortestWatchMilliseconds)
      throw new Error('the watch ended at once without an event')
  }

  return {
    async run(signal) {
      while (!signal.aborted) {
        try {
          await follow(resourceVersion ?? (await list(signal)), signal)
        } catch (error) {
          if (signal.aborted) break
          // Too old to continue from: nothing is wrong, only a list is due. A second time in a row it waits like any failure.
          if (isExpired(error)) resourceVersion = undefined
          const expected = isExpired(error) && failures === 0
          failures += 1
          problem = messageOf(error)
          const quiet = isKubeError(error, 0) || expected
          log[quiet ? 'debug' : 'error']({ problem, failures }, 'watch interrupted')
          if (!expected) await clock.sleep(fullJitter(backoff, failures - 1, deps.random), signal).catch(() => {})
        }
      }
    },
    synced: first.promise,
    problem: () => problem,
    lastHeard: () => lastHeard,
  }
}
