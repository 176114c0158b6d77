// Runs one controller: workers take keys, call reconcile under a time limit, and turn its outcome into what happens to the key next.
// Works in terms (while this process leads); between terms it only collects keys. A key is never in two reconciles at once, not even
// when one ignores its signal: that one keeps its key but not its worker.
import { randomUUID } from 'node:crypto'
import type { KubeObject, ObjectKey } from '../../api/resource.ts'
import { keyOf, keyText } from '../../api/resource.ts'
import type { Clock } from '../../lib/clock.ts'
import { isAppError, messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { Cache, ChangeSource } from '../cache/store.ts'
import { isKubeError, NotLeaderError } from '../client/errors.ts'
import type { KubeMetrics, ReconcileResult } from '../metrics.ts'
import { type ControllerDefinition, type Outcome, TerminalError } from './controller.ts'
import { watchOwned, watchSelf } from './handlers.ts'
import { createRetryLimiter } from './rate-limit.ts'
import { createWorkQueue } from './workqueue.ts'

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
  /** Ends the term. `abort`: running reconciles are told to stop now. Resolves when none of them runs any more. */
  readonly end: (options: { readonly abort: boolean }) => Promise<void>
  /** Tells running reconciles to stop. */
  readonly abort: () => void
  /** Drops what is planned for later. For good. */
  readonly close: () => void
}

const graceMilliseconds = 10_000
const longestRetryAfterMilliseconds = 3_600_000
// What an API server that is away or overloaded did not do is tried again soon after its return, however long that took.
const awayCapMilliseconds = 3000

/** Undoes `keyText`. Names hold no slash. */
export function parseKey(text: string): ObjectKey {
  const slash = text.indexOf('/')
  return slash === -1 ? { name: text } : { namespace: text.slice(0, slash), name: text.slice(slash + 1) }
}

export function createControllerRunner(definition: ControllerDefinition, deps: RunnerDeps): ControllerRunner {
  const { clock, random, objects } = deps
  const { concurrency = 5, timeoutMilliseconds = 120_000, resyncMilliseconds = 600_000 } = definition
  const { tenantOf = ({ namespace, name }) => namespace ?? name } = definition
  const log = deps.log.child({ controller: definition.name })
  const queue = createWorkQueue({
    clock,
    tenantOf: key => tenantOf(parseKey(key)),
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
  const abort = (): void => working?.abort(new NotLeaderError(`controller ${definition.name}`))

  function rest(key: string): void {
    limiter.forget(key)
    if (resyncMilliseconds > 0 && objects.get(parseKey(key)) !== undefined)
      queue.addAfter(key, resyncMilliseconds * (0.9 + 0.2 * random()), 'low')
  }

  function succeed(key: string, outcome: Outcome): ReconcileResult {
    switch (outcome.kind) {
      case 'done':
        rest(key)
        return 'success'
      case 'requeue':
        limiter.forget(key)
        queue.addAfter(key, Math.max(outcome.afterMilliseconds, 0))
        return 'requeue_after'
    }
  }

  function fail(key: string, error: unknown, facts: { timedOut: boolean; termOver: boolean; keyLog: Log }): ReconcileResult {
    if (error instanceof TerminalError) {
      facts.keyLog.error({ error }, 'reconcile failed for good: it rests until something changes')
      rest(key)
      return 'terminal_error'
    }
    if (facts.termOver) {
      facts.keyLog.debug({ problem: messageOf(error) }, 'reconcile was cut off by the end of the term')
      return 'error'
    }
    const away = isKubeError(error) && error.retryable
    const delay = Math.max(limiter.delayAfterFailure(key, away ? awayCapMilliseconds : undefined), askedWait(error))
    queue.addAfter(key, delay)
    metrics?.retried()
    const failures = limiter.failures(key)
    // A lost race or lost lease is everyday life; anything else an operator should see.
    const expected = isKubeError(error, 409) || error instanceof NotLeaderError
    if (expected) facts.keyLog.debug({ problem: messageOf(error), delay, failures }, 'reconcile will be repeated')
    else facts.keyLog.error({ error, delay, failures }, 'reconcile failed and will be repeated')
    return facts.timedOut ? 'timeout' : 'error'
  }

  /** Resolves when the worker is free again; the key is given back when reconcile has really ended. */
  async function work(text: string, mayWork: AbortSignal): Promise<void> {
    const reconcileId = randomUUID()
    const keyLog = log.child({ key: text, reconcileId })
    const limit = new AbortController()
    const ended = new AbortController()
    const signal = AbortSignal.any([mayWork, limit.signal])
    const started = performance.now()
    const run = async (): Promise<void> => {
      let result: ReconcileResult
      try {
        result = succeed(text, await definition.reconcile({ key: parseKey(text), log: keyLog, signal, reconcileId }))
      } catch (error) {
        result = fail(text, error, { timedOut: limit.signal.aborted, termOver: mayWork.aborted, keyLog })
      } finally {
        ended.abort()
      }
      metrics?.reconciled(result, (performance.now() - started) / 1000)
      queue.done(text)
    }
    /** Resolves when the run is left to itself; rejects, which is the rule, when it ended before. */
    const leave = async (): Promise<void> => {
      await clock.sleep(timeoutMilliseconds, ended.signal)
      limit.abort(new Error(`reconcile took longer than ${timeoutMilliseconds} ms`))
      await clock.sleep(graceMilliseconds, ended.signal)
      keyLog.error({}, 'reconcile ignores its signal; its key waits for it, its worker goes on')
      queue.abandon(text)
    }
    const running = run()
    await Promise.race([running, leave().catch(() => running)])
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
    end(options) {
      taking = false
      if (options.abort) abort()
      return queue.idle()
    },
    abort,
    close: () => queue.shutDown(),
  }
}

/** How long a failed call's answer asks us to wait (Retry-After), bounded. */
function askedWait(error: unknown): number {
  const seconds = isKubeError(error) || isAppError(error) ? (error.retryAfterSeconds ?? 0) : 0
  return Math.min(seconds * 1000, longestRetryAfterMilliseconds)
}
