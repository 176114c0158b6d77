import fc from 'fast-check'
import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { keyText } from '../../api/resource.ts'
import { AppError } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { createFakeClock, settle } from '../../lib/testing/fake-clock.ts'
import { silentLog } from '../../lib/testing/silent-log.ts'
import { createObjectCache } from '../cache/object-cache.ts'
import { KubeError } from '../client/errors.ts'
import { createKubeMetrics } from '../metrics.ts'
import { type Thing, thing, things } from '../testing/objects.ts'
import { createRecordingLog } from '../testing/recording-log.ts'
import { type ControllerDefinition, done, type Outcome, requeueAfter } from './controller.ts'
import { createControllerRunner } from './controller-runner.ts'

function runnerOf(reconcile: ControllerDefinition['reconcile'], extra: Partial<ControllerDefinition> = {}, log: Log = silentLog) {
  const clock = createFakeClock()
  const cache = createObjectCache<Thing>()
  const registry = new Registry()
  const definition: ControllerDefinition = { name: 'test', for: things, resyncMilliseconds: 0, reconcile, ...extra }
  const runner = createControllerRunner(definition, {
    objects: cache,
    clock,
    random: () => 0.5,
    log,
    metrics: createKubeMetrics(registry),
  })
  // The runner subscribes to one kind only.
  runner.attach({ subscribe: (_type, _scope, listener) => cache.subscribe(change => listener(change as never)) })
  const count = async (result: string): Promise<number | undefined> => {
    const metric = await registry.getSingleMetric('controller_runtime_reconcile_total')?.get()
    return metric?.values.find(({ labels }) => labels['result'] === result)?.value
  }
  const stop = (): Promise<void> => {
    const idle = runner.end()
    runner.abort()
    return idle
  }
  return { runner, stop, cache, clock, count }
}

test('reconciles all objects when a term begins, and then every change of spec or metadata', async () => {
  const runs: string[] = []
  const { runner, stop, cache } = runnerOf(async ({ key }) => {
    runs.push(keyText(key))
    return done
  })
  cache.replace([thing('a', { generation: 1 })])
  await settle()
  expect(runs).toEqual([])
  runner.begin()
  await settle()
  cache.upsert(thing('a', { generation: 2, resourceVersion: '2' }))
  await settle()
  cache.upsert(thing('a', { generation: 2, resourceVersion: '3' }, 'only status changed'))
  await settle()
  cache.upsert(thing('a', { generation: 2, resourceVersion: '4', annotations: { wake: '1' } }))
  await settle()
  cache.remove(thing('a'))
  await settle()
  expect(runs).toEqual(['ns/a', 'ns/a', 'ns/a', 'ns/a'])
  await stop()
})

test('a key never runs twice at once, whatever changes, and a change during a run is not lost', async () => {
  const step = fc.record({ name: fc.constantFrom('a', 'b', 'c'), milliseconds: fc.integer({ min: 0, max: 300 }) })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30, size: 'max' }), async steps => {
      const running = new Set<string>()
      const last = new Map<string, string | undefined>()
      const { runner, stop, cache, clock } = runnerOf(
        async ({ key }) => {
          expect(running.has(key.name)).toBe(false)
          running.add(key.name)
          const seen = cache.get(key)?.data
          await clock.sleep(120)
          last.set(key.name, seen)
          running.delete(key.name)
          return done
        },
        { concurrency: 2 },
      )
      cache.replace([])
      runner.begin()
      for (const [index, { name, milliseconds }] of steps.entries()) {
        cache.upsert(thing(name, { resourceVersion: String(index + 2) }, String(index)))
        await clock.advance(milliseconds)
      }
      await clock.advance(5000)
      for (const object of cache.list()) expect(last.get(object.metadata.name)).toBe(object.data)
      await stop()
    }),
    { numRuns: 50 },
  )
})

test('each outcome decides when the key is reconciled again', async () => {
  let next: () => Outcome = () => done
  const runs: number[] = []
  const { runner, stop, cache, clock, count } = runnerOf(async () => {
    runs.push(clock.monotonic())
    return next()
  })
  const runsWithin = async (milliseconds: number): Promise<number[]> => {
    const from = clock.monotonic()
    runs.length = 0
    await clock.advance(milliseconds)
    return runs.map(at => at - from)
  }
  let version = 10
  const change = (): void => cache.upsert(thing('a', { resourceVersion: String(++version) }))
  const fail = (error: Error) => () => {
    throw error
  }
  expect(await count('timeout')).toBe(0)
  cache.replace([thing('a')])
  runner.begin()
  expect(await runsWithin(60_000)).toEqual([0])
  next = () => requeueAfter(700)
  change()
  expect(await runsWithin(2200)).toEqual([0, 700, 1400, 2100])
  next = () => done
  expect(await runsWithin(60_000)).toHaveLength(1)
  next = fail(new Error('no'))
  change()
  expect(await runsWithin(5000)).toEqual([0, 375, 375 + 750, 375 + 750 + 1500])
  next = () => done
  expect(await runsWithin(60_000)).toHaveLength(1)
  next = fail(new KubeError('slow down', { status: 429, reason: 'TooManyRequests', retryAfterSeconds: 20 }))
  change()
  expect(await runsWithin(30_000)).toEqual([0, 20_000])
  next = fail(new AppError('too_many_requests', 'slow down', { retryAfterSeconds: 100 }))
  expect(await runsWithin(130_000)).toEqual([10_000, 110_000])
  // Four of the plain error, two of each error that requested a wait.
  expect(await count('error')).toBe(8)
  expect(await count('requeue_after')).toBe(4)
  await stop()
})

test('existing objects are reconciled again after the resync time, deleted ones are not', async () => {
  const runs: string[] = []
  const { runner, stop, cache, clock } = runnerOf(
    async ({ key }) => {
      runs.push(key.name)
      return done
    },
    { resyncMilliseconds: 60_000 },
  )
  cache.replace([thing('a'), thing('b')])
  runner.begin()
  await settle()
  cache.remove(thing('b'))
  await settle()
  runs.length = 0
  await clock.advance(180_500)
  expect(runs.filter(name => name === 'a')).toHaveLength(3)
  expect(runs.filter(name => name === 'b').length).toBeLessThanOrEqual(1)
  await stop()
})

test('a reconcile that is too slow is aborted, counted as timeout and retried', async () => {
  const { runner, stop, cache, clock, count } = runnerOf(
    ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    { timeoutMilliseconds: 5000 },
  )
  cache.replace([thing('a')])
  runner.begin()
  await clock.advance(5000)
  expect(await count('timeout')).toBe(1)
  await clock.advance(6000)
  expect(await count('timeout')).toBe(2)
  await stop()
})

test('a reconcile that ignores its signal keeps its key but not its worker', async () => {
  const hang = Promise.withResolvers<Outcome>()
  const runs: string[] = []
  const { runner, stop, cache, clock } = runnerOf(
    ({ key }) => {
      runs.push(key.name)
      return key.name === 'hangs' ? hang.promise : Promise.resolve(done)
    },
    { concurrency: 1, timeoutMilliseconds: 1000 },
  )
  cache.replace([thing('hangs'), thing('other')])
  runner.begin()
  await clock.advance(10_000)
  expect(runs).toEqual(['hangs'])
  cache.upsert(thing('hangs', { resourceVersion: '2' }))
  await clock.advance(10_000)
  expect(runs).toEqual(['hangs', 'other'])
  hang.resolve(done)
  await settle()
  expect(runs).toEqual(['hangs', 'other', 'hangs'])
  await stop()
})

test('between terms nothing runs; the next term reconciles everything, changed objects first', async () => {
  const runs: string[] = []
  let cut = 0
  const { runner, stop, cache, clock } = runnerOf(async ({ key, signal }) => {
    runs.push(key.name)
    if (key.name === 'slow') await clock.sleep(60_000, signal).finally(() => (cut += signal.aborted ? 1 : 0))
    return done
  })
  cache.replace([thing('slow'), thing('b')])
  runner.begin()
  await settle()
  await stop()
  expect(cut).toBe(1)
  cache.upsert(thing('new'))
  await clock.advance(600_000)
  expect(runs.toSorted()).toEqual(['b', 'slow'])
  runs.length = 0
  runner.begin()
  await settle()
  expect(runs.toSorted()).toEqual(['b', 'new', 'slow'])
  expect(runs[0]).toBe('new')
  await stop()
})

test('every log line of a run contains its controller, its key and its reconcile id', async () => {
  const log = createRecordingLog()
  const ids: string[] = []
  let next: () => Promise<Outcome> = async () => done
  const { runner, stop, cache, clock } = runnerOf(
    ({ log: own, reconcileId }) => {
      ids.push(reconcileId)
      own.info({ step: 1 }, 'first step')
      own.child({ part: 'inner' }).debug({}, 'inner step')
      return next()
    },
    { timeoutMilliseconds: 1000 },
    log,
  )
  const ways = [
    async () => done,
    () => Promise.reject(new Error('no')),
    () => Promise.reject(new KubeError('lost race', { status: 409, reason: 'Conflict' })),
    () => clock.sleep(20_000).then(() => done),
  ]
  cache.replace([thing('a')])
  for (const [index, way] of ways.entries()) {
    next = way
    if (index === 0) runner.begin()
    else cache.upsert(thing('a', { resourceVersion: String(index + 2) }))
    await settle()
    next = async () => done
    await clock.advance(60_000)
  }
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids.length).toBeGreaterThanOrEqual(ways.length)
  expect(log.lines.length).toBeGreaterThan(2 * ids.length)
  expect(log.lines.map(({ message }) => message)).toContain(
    'reconcile ignores its signal; its key stays blocked, its worker is freed',
  )
  for (const line of log.lines) expect(line).toMatchObject({ controller: 'test', key: 'ns/a', reconcileId: expect.any(String) })
  for (const id of ids) expect(log.lines.filter(({ reconcileId }) => reconcileId === id).length).toBeGreaterThanOrEqual(2)
  await stop()
})

test.each([
  [
    'an App that was uninstalled',
    new AppError('not_found', 'the installation is gone', { reason: 'RepositoryNotAccessible' }),
    'info',
  ],
  ['GitHub that does not answer', new AppError('unavailable', 'GitHub cannot be reached'), 'info'],
  ['a lost race', new KubeError('changed', { status: 409, reason: 'Conflict' }), 'debug'],
  ['a token wider than requested', new AppError('integrity_violation', 'a wider token'), 'error'],
  ['a refusal of the API server', new KubeError('no', { status: 403, reason: 'Forbidden' }), 'error'],
  ['a defect', new TypeError('x is undefined'), 'error'],
] as const)('%s is logged as what it is, and only a fault with its stack', async (_case, failure, level) => {
  const log = createRecordingLog()
  const { runner, stop, cache } = runnerOf(() => Promise.reject(failure), {}, log)
  cache.replace([thing('a', { generation: 1 })])
  runner.begin()
  await settle()
  await stop()
  const lines = log.lines.filter(({ message }) => message.includes('will be retried'))
  expect(lines.map(line => [line.level, line['error']])).toEqual([[level, level === 'error' ? failure : failure.message]])
})

test('after ten minutes without an API server every key is retried within four seconds of its return', async () => {
  let away = true
  const doneAt = new Map<string, number>()
  const { runner, stop, cache, clock } = runnerOf(async ({ key }) => {
    if (away) throw new KubeError('no answer', { status: 0, reason: 'Unreachable' })
    doneAt.set(key.name, clock.monotonic())
    return done
  })
  cache.replace(['a', 'b', 'c'].map(name => thing(name)))
  runner.begin()
  await clock.advance(600_000)
  away = false
  const back = clock.monotonic()
  await clock.advance(10_000)
  expect([...doneAt.keys()].sort()).toEqual(['a', 'b', 'c'])
  for (const at of doneAt.values()) expect(at - back).toBeLessThanOrEqual(3000)
  await stop()
})

test.each([500, 503, 504, 429])('an answer %i that repeats for one key backs off exponentially', async status => {
  const runs: number[] = []
  const { runner, stop, cache, clock } = runnerOf(async () => {
    runs.push(clock.monotonic())
    throw new KubeError('refused for ever', { status, reason: 'InternalError' })
  })
  cache.replace([thing('a')])
  runner.begin()
  await clock.advance(3_600_000)
  const gaps = runs.map((at, index) => at - (runs[index - 1] ?? 0)).slice(1)
  // At most 3 s at first, for an outage; then each gap is twice the one before, up to the longest backoff.
  expect(Math.max(...gaps.slice(0, 10))).toBeLessThanOrEqual(3000)
  expect(gaps.at(-1)).toBeGreaterThanOrEqual(96_000)
  expect(runs.length).toBeLessThanOrEqual(40)
  await stop()
})

test('what RBAC refuses is tried again ever later, and at least every 30 seconds: nothing else finds that the right is back', async () => {
  const runs: number[] = []
  let given = false
  const { runner, stop, cache, clock } = runnerOf(async () => {
    runs.push(clock.monotonic())
    const message = 'apply X: 403 Forbidden: x is forbidden: User "u" cannot patch resource "x" in API group ""'
    if (!given) throw new KubeError(message, { status: 403, reason: 'Forbidden' })
    return done
  })
  cache.replace([thing('a')])
  runner.begin()
  await clock.advance(3_600_000)
  const gaps = runs.slice(1).map((at, index) => at - (runs[index] ?? 0))
  expect(gaps.slice(0, 6)).toEqual(gaps.slice(0, 6).toSorted((a, b) => a - b))
  expect([Math.max(...gaps) <= 30_000, runs.length > 120, runs.length < 300]).toEqual([true, true, true])
  given = true
  const count = runs.length
  await clock.advance(300_000)
  expect(runs.length).toBe(count + 1)
  await stop()
})

test('ten thousand keys of one tenant, even hanging ones, leave a worker for another tenant', async () => {
  const runs: string[] = []
  const { runner, stop, cache, clock } = runnerOf(async ({ key, signal }) => {
    runs.push(key.namespace ?? '')
    if (key.namespace === 'flood') await clock.sleep(3_600_000, signal)
    return done
  })
  cache.replace(Array.from({ length: 10_000 }, (_, index) => thing(`x-${index}`, { namespace: 'flood' })))
  runner.begin()
  await settle()
  expect(runs).toEqual(['flood', 'flood', 'flood', 'flood'])
  cache.upsert(thing('single', { namespace: 'other' }))
  await settle()
  expect(runs.at(-1)).toBe('other')
  await stop()
})

test('every cluster-wide object is its own tenant: none waits for another', async () => {
  const runs: string[] = []
  const { runner, stop, cache } = runnerOf(
    async ({ key, signal }) => {
      runs.push(key.name)
      await new Promise(resolve => signal.addEventListener('abort', resolve))
      return done
    },
    { concurrency: 2 },
  )
  cache.replace(
    ['a', 'b', 'c'].map(name => {
      const { namespace: _, ...metadata } = thing(name).metadata
      return { ...thing(name), metadata }
    }),
  )
  runner.begin()
  await settle()
  expect(runs).toEqual(['a', 'b'])
  await stop()
})

test('a controller may say how many workers one namespace gets; the others are for the others', async () => {
  const running: string[] = []
  const { runner, stop, cache } = runnerOf(
    async ({ key, signal }) => {
      running.push(key.namespace ?? '')
      await new Promise(resolve => signal.addEventListener('abort', resolve))
      return done
    },
    { concurrency: 5, perTenant: 2 },
  )
  cache.replace([
    ...Array.from({ length: 10 }, (_, index) => thing(`x-${index}`, { namespace: 'flood' })),
    thing('single', { namespace: 'other' }),
  ])
  runner.begin()
  await settle()
  expect(running.toSorted()).toEqual(['flood', 'flood', 'other'])
  await stop()
})
