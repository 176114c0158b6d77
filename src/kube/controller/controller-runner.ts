// Runs one controller: workers take keys, call reconcile under a time limit, and turn its outcome into what happens to the key next.
// Works in terms (while this process leads); between terms it only collects keys. A key is never in two reconciles at once, not even
// when one ignores its signal: that one keeps its key but not its worker.
import { randomUUID } from 'node:crypto'
import type { KubeObject } from '../../api/resource.ts'
import { keyOf, keyText, parseKey } from '../../api/resource.ts'
import { type Clock, endsWithin } from '../../lib/clock.ts'
import { isAppError, messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { Cache, ChangeSource } from '../cache/object-cache.ts'
import { isKubeError, NotLeaderError } from '../client/errors.ts'
import type { KubeMetrics, ReconcileResult } from '../metrics.ts'
import { createRetryLimiter } from '../queue/retry-limiter.ts'
import { createWorkQueue } from '../queue/workqueue.ts'
import type { ControllerDefinition, Outcome } from './controller.ts'
import { watchOwned, watchSelf } from './handlers.ts'

export type RunnerDeps = {
  /** The cache of `definition.for`. */
  readonly objects: Cache<KubeObject>
  readonly clock: Clock
  readonly random: () => number
  readonly log: Log
  readonly metrics?: KubeMetrics
}

export type ControllerRunner = {
  readonly attach: (source: ChangeSource) => void
  /** Begins a term: every object is reconciled once, what changed meanwhile first. */
  readonly begin: () => void
  /** Ends the term: no key is taken any more. Resolves when no reconcile runs any more. */
  readonly end: () => Promise<void>
  /** Tells running reconciles to stop. */
  readonly abort: () => void
  /** Drops what is planned for later. For good. */
  readonly close: () => void
}

/** One run of `reconcile`: `limit` aborts when it takes too long, `term` when this process does not lead any more. */
type Run = {
  readonly key: string
  readonly reconcileId: string
  readonly log: Log
  readonly limit: AbortSignal
  readonly term: AbortSignal
}

const graceMilliseconds = 10_000
const longestRetryAfterMilliseconds = 3_600_000
// What an API server that is away or overloaded did not do is tried again soon after its return, however long that took.
const awayCapMilliseconds = 3000

export function createControllerRunner(definition: ControllerDefinition, deps: RunnerDeps): ControllerRunner {
  const { clock, random, objects } = deps
  const { concurrency = 5, timeoutMilliseconds = 120_000, resyncMilliseconds = 600_000 } = definition
  const log = deps.log.child({ controller: definition.name })
  const queue = createWorkQueue({
    clock,
    tenantOf,
    perTenant: Math.max(1, concurrency - 1),
    onReady: ready,
    onAdd: () => metrics?.added(),
    onTake: waited => metrics?.taken(waited / 1000),
  })
  const metrics = deps.metrics?.controller(definition.name, queue)
  const limiter = createRetryLimiter({ clock, random })
  let taking = false
  let woken = false
  let busy = 0
  let working: AbortController | undefined

  function succeed(key: string, outcome: Outcome): ReconcileResult {
    limiter.forget(key)
    switch (outcome.kind) {
      case 'done':
        if (resyncMilliseconds > 0 && objects.get(parseKey(key)) !== undefined)
          queue.addAfter(key, resyncMilliseconds * (0.9 + 0.2 * random()), 'low')
        return 'success'
      case 'requeue':
        queue.addAfter(key, outcome.afterMilliseconds)
        return 'requeue_after'
    }
  }

  function fail({ key, log: own, limit, term }: Run, error: unknown): ReconcileResult {
    if (term.aborted) {
      own.debug({ problem: messageOf(error) }, 'reconcile was cut off by the end of the term')
      return 'error'
    }
    const away = isKubeError(error) && error.retryable
    const delay = Math.max(limiter.delayAfterFailure(key, away ? awayCapMilliseconds : undefined), askedWait(error))
    queue.addAfter(key, delay)
    metrics?.retried()
    const failures = limiter.failures(key)
    // A lost race or lost lease is everyday life; anything else an operator should see.
    const expected = isKubeError(error, 409) || error instanceof NotLeaderError
    if (expected) own.debug({ problem: messageOf(error), delay, failures }, 'reconcile will be repeated')
    else own.error({ error, delay, failures }, 'reconcile failed and will be repeated')
    return limit.aborted ? 'timeout' : 'error'
  }

  /** Never rejects. The key is given back when reconcile has really ended. */
  async function reconcile(run: Run): Promise<void> {
    const { key, reconcileId, limit, term } = run
    const started = performance.now()
    let result: ReconcileResult
    try {
      const signal = AbortSignal.any([term, limit])
      result = succeed(key, await definition.reconcile({ key: parseKey(key), log: run.log, signal, reconcileId }))
    } catch (error) {
      result = fail(run, error)
    }
    metrics?.reconciled(result, (performance.now() - started) / 1000)
    queue.done(key)
  }

  /** Resolves when the worker is free again. */
  async function work(key: string, term: AbortSignal): Promise<void> {
    const reconcileId = randomUUID()
    const own = log.child({ key, reconcileId })
    const limit = new AbortController()
    const running = reconcile({ key, reconcileId, log: own, limit: limit.signal, term })
    if (await endsWithin(clock, timeoutMilliseconds, running)) return
    limit.abort(new Error(`reconcile took longer than ${timeoutMilliseconds} ms`))
    if (await endsWithin(clock, graceMilliseconds, running)) return
    own.error({}, 'reconcile ignores its signal; its key waits for it, its worker goes on')
    queue.abandon(key)
  }

  /** Called in the middle of a cache's change: the workers look once it is whole. */
  function ready(): void {
    if (woken) return
    woken = true
    queueMicrotask(() => {
      woken = false
      while (taking && busy < concurrency && working !== undefined) {
        const key = queue.next()
        if (key === undefined) return
        busy += 1
        work(key, working.signal)
          .catch((error: unknown) => log.error({ error, key }, 'a worker broke'))
          .finally(() => {
            busy -= 1
            ready()
          })
      }
    })
  }

  return {
    attach(source) {
      const all = [
        watchSelf(definition.for, definition.wakesOnStatus ?? false),
        ...(definition.owns ?? []).map(type => watchOwned(type, definition.for, definition.ownsLabelSelector)),
        ...(definition.watches ?? []),
      ]
      for (const watch of all) watch.attach(source, (key, change) => queue.add(keyText(key), change.initial ? 'low' : 'normal'))
    },
    begin() {
      if (taking) return
      taking = true
      working = new AbortController()
      for (const object of objects.list()) queue.add(keyText(keyOf(object)), 'low')
      ready()
    },
    end() {
      taking = false
      return queue.idle()
    },
    abort: () => working?.abort(new NotLeaderError(`controller ${definition.name}`)),
    close: () => queue.shutDown(),
  }
}

/** Whose turn a key uses up: its namespace; a cluster-wide object is its own tenant. */
function tenantOf(key: string): string {
  const { namespace, name } = parseKey(key)
  return namespace ?? name
}

/** How long a failed call's answer asks us to wait (Retry-After), bounded. */
function askedWait(error: unknown): number {
  const seconds = isKubeError(error) || isAppError(error) ? (error.retryAfterSeconds ?? 0) : 0
  return Math.min(seconds * 1000, longestRetryAfterMilliseconds)
}
