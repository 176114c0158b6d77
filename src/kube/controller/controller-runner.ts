// Runs one controller: workers take keys, call reconcile with a time limit, and turn its outcome into the key's next run. It
// works in terms (while this process is the leader); between terms it only collects keys. A key is never in two reconciles at
// once: a reconcile that ignores its signal keeps its key, but its worker is freed.
import { randomUUID } from 'node:crypto'
import type { KubeObject } from '../../api/resource.ts'
import { keyOf, keyText, parseKey } from '../../api/resource.ts'
import { type Clock, endsWithin } from '../../lib/clock.ts'
import { isAppError, isOfOthers, messageOf } from '../../lib/errors.ts'
import type { Log, LogFields } from '../../lib/log.ts'
import type { Cache, ChangeSource } from '../cache/object-cache.ts'
import { isKubeError, lacksRight, NotLeaderError } from '../client/errors.ts'
import type { KubeMetrics, ReconcileResult } from '../metrics.ts'
import { createRetryLimiter } from '../queue/retry-limiter.ts'
import { createWorkQueue } from '../queue/workqueue.ts'
import type { ControllerDefinition, Outcome, ReconcileContext } from './controller.ts'
import { type Watch, watchOwned, watchSelf } from './handlers.ts'

export type RunnerDeps = {
  /** The cache of `definition.for`. */
  readonly objects: Cache<KubeObject>
  readonly clock: Clock
  readonly random: () => number
  readonly log: Log
  readonly metrics?: KubeMetrics
}

export type ControllerRunner = {
  /** Subscribes to everything that triggers the controller. Call once. */
  readonly attach: (source: ChangeSource) => void
  /** Begins a term: every object is reconciled once, beginning with those that changed since the last term. */
  readonly begin: () => void
  /** Ends the term: no more keys are taken. Resolves when no reconcile is in progress. */
  readonly end: () => Promise<void>
  /** Aborts the signal of the reconciles in progress. */
  readonly abort: () => void
  /** Drops delayed keys and accepts no more. Cannot be undone. */
  readonly close: () => void
}

/** One run of `reconcile`: `limit` aborts when it takes too long, `term` when this process is no longer the leader. */
type Run = Pick<ReconcileContext, 'reconcileId' | 'log'> & Readonly<{ key: string; limit: AbortSignal; term: AbortSignal }>

const graceMilliseconds = 10_000
const maxRetryAfterMilliseconds = 3_600_000
// The longest backoff while the API server is unavailable, so that work resumes soon after its return. A server that answers
// may refuse this one object for ever, also with a 500: after so many failures its backoff grows as after every other error.
const unavailableCapMilliseconds = 3000
const failuresOfAnOutage = 10
// A right that was given back has no event for every controller: nothing but the next attempt finds it.
const missingRightCapMilliseconds = 30_000

// Memory (work queue of a controller): key of an object → its place, its delay, its failures in a row
//   life: until it was reconciled; failures until a success
//   bound: one entry of each kind for an object that exists or was deleted a moment ago
//   freshness: the next reconcile
//   replicas: each collects keys; only the leader takes them, and a new leader reconciles every object once
/** A runner between terms. */
export function createControllerRunner(definition: ControllerDefinition, deps: RunnerDeps): ControllerRunner {
  const { clock, random, objects } = deps
  const { concurrency = 5, timeoutMilliseconds = 120_000, resyncMilliseconds = 600_000 } = definition
  const log = deps.log.child({ controller: definition.name })
  const queue = createWorkQueue({
    clock,
    tenantOf,
    perTenant: definition.perTenant ?? Math.max(1, concurrency - 1),
    onReady: schedule,
    onAdd: () => metrics?.added(),
    onTake: waited => metrics?.taken(waited / 1000),
  })
  const metrics = deps.metrics?.controller(definition.name, queue)
  const limiter = createRetryLimiter({ clock, random })
  let accepting = false
  let scheduled = false
  let busyWorkers = 0
  let term: AbortController | undefined

  function succeed(key: string, outcome: Outcome): ReconcileResult {
    limiter.forget(key)
    if (outcome.kind === 'requeue') {
      queue.addAfter(key, outcome.requeueAfterMilliseconds)
      return 'requeue_after'
    }
    if (resyncMilliseconds > 0 && objects.get(parseKey(key)) !== undefined)
      queue.addAfter(key, resyncMilliseconds * (0.9 + 0.2 * random()), 'low')
    return 'success'
  }

  function fail({ key, log: runLog, limit, term: termSignal }: Run, error: unknown): ReconcileResult {
    if (termSignal.aborted) {
      runLog.debug({ error: messageOf(error) }, 'reconcile aborted at the end of the term')
      return 'error'
    }
    const delay = Math.max(limiter.delayAfterFailure(key, backoffCap(error, limiter.failures(key))), requestedWait(error))
    queue.addAfter(key, delay)
    metrics?.retried()
    logFailure(runLog, error, { delay, failures: limiter.failures(key) })
    return limit.aborted ? 'timeout' : 'error'
  }

  /** Never rejects. The key stays in progress until reconcile has really ended. */
  async function reconcile(run: Run): Promise<void> {
    const { key, reconcileId } = run
    const started = performance.now()
    let result: ReconcileResult
    try {
      const signal = AbortSignal.any([run.term, run.limit])
      result = succeed(key, await definition.reconcile({ key: parseKey(key), log: run.log, signal, reconcileId }))
    } catch (error) {
      result = fail(run, error)
    }
    metrics?.reconciled(result, (performance.now() - started) / 1000)
    queue.done(key)
  }

  /** Resolves when the worker is free again. */
  async function work(key: string, termSignal: AbortSignal): Promise<void> {
    const reconcileId = randomUUID()
    const limit = new AbortController()
    const runLog = log.child({ key, reconcileId })
    const running = reconcile({ key, reconcileId, log: runLog, limit: limit.signal, term: termSignal })
    if (await endsInTime(clock, timeoutMilliseconds, running, limit)) return
    runLog.error({}, 'reconcile ignores its signal; its key stays blocked, its worker is freed')
    queue.abandon(key)
  }

  /** Starts workers in a microtask, because it may be called in the middle of a cache update. */
  function schedule(): void {
    if (scheduled) return
    scheduled = true
    queueMicrotask(() => {
      scheduled = false
      while (accepting && busyWorkers < concurrency && term !== undefined) {
        const key = queue.next()
        if (key === undefined) return
        busyWorkers += 1
        work(key, term.signal)
          .catch((error: unknown) => log.error({ error, key }, 'worker failed'))
          .finally(() => {
            busyWorkers -= 1
            schedule()
          })
      }
    })
  }

  return {
    attach(source) {
      for (const watch of watchesOf(definition))
        watch.attach(source, (key, change) => queue.add(keyText(key), change.initial ? 'low' : 'normal'))
    },
    begin() {
      if (accepting) return
      accepting = true
      term = new AbortController()
      for (const object of objects.list()) queue.add(keyText(keyOf(object)), 'low')
      schedule()
    },
    end() {
      accepting = false
      return queue.idle()
    },
    abort: () => term?.abort(new NotLeaderError(`controller ${definition.name}`)),
    close: () => queue.shutDown(),
  }
}

function watchesOf(definition: ControllerDefinition): readonly Watch[] {
  const { owns = [], watches = [], wakesOnStatus = false } = definition
  const owned = owns.map(type => watchOwned(type, definition.for, definition.ownsLabelSelector))
  return [watchSelf(definition.for, wakesOnStatus), ...owned, ...watches]
}

/** A lost race or a lost lease is normal operation, what others refuse is information; an operator should see everything else. */
function logFailure(log: Log, error: unknown, fields: LogFields): void {
  const lost = isKubeError(error, 409) || error instanceof NotLeaderError
  if (lost || isOfOthers(error)) log[lost ? 'debug' : 'info']({ error: messageOf(error), ...fields }, 'reconcile will be retried')
  else log.error({ error, ...fields }, 'reconcile failed and will be retried')
}

/** The owner of a key, for fairness: its namespace; a cluster-wide object is its own tenant. */
function tenantOf(key: string): string {
  const { namespace, name } = parseKey(key)
  return namespace ?? name
}

/** Whether the reconcile ends within the limit, or soon after its signal was aborted for exceeding it. */
async function endsInTime(clock: Clock, milliseconds: number, running: Promise<void>, limit: AbortController): Promise<boolean> {
  if (await endsWithin(clock, milliseconds, running)) return true
  limit.abort(new Error(`reconcile took longer than ${milliseconds} ms`))
  return endsWithin(clock, graceMilliseconds, running)
}

/** The longest backoff after this error, after so many failures; undefined for the default. */
function backoffCap(error: unknown, failures: number): number | undefined {
  if (lacksRight(error)) return missingRightCapMilliseconds
  if (!isKubeError(error) || !error.retryable) return undefined
  const doublings = error.reason === 'Unreachable' ? 0 : Math.min(Math.max(0, failures - failuresOfAnOutage), 6)
  return unavailableCapMilliseconds * 2 ** doublings
}

/** The wait that a failed call's response requested (Retry-After), bounded, in milliseconds. */
function requestedWait(error: unknown): number {
  const seconds = isKubeError(error) || isAppError(error) ? (error.retryAfterSeconds ?? 0) : 0
  return Math.min(seconds * 1000, maxRetryAfterMilliseconds)
}
