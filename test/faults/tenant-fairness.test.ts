// Fault 18 of the list in fault-page.ts: one tenant floods a controller. Uses the real queue and runner in real time: a
// reconcile computes for a while and waits for a simulated API server. Measured: another tenant's single change, from the cache
// to the end of its reconcile.
import { createHash, randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { onTestFinished, test } from 'vitest'
import type { ConfigMap } from '../../src/api/builtin/index.ts'
import { configMaps } from '../../src/api/builtin/index.ts'
import { createObjectCache } from '../../src/kube/cache/object-cache.ts'
import { done } from '../../src/kube/controller/controller.ts'
import { createControllerRunner } from '../../src/kube/controller/controller-runner.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { silentLog } from '../../src/lib/testing/silent-log.ts'
import { recordOutcome } from './outcome.ts'

const answerMilliseconds = 25
const changes = 40
const payload = randomBytes(200_000)

function configMap(namespace: string, name: string, version: number): ConfigMap {
  const metadata = { namespace, name, uid: `${namespace}-${name}`, resourceVersion: String(version) }
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { version: String(version) } }
}

function startRunner(answer: (namespace: string, signal: AbortSignal) => Promise<void>) {
  const store = createObjectCache<ConfigMap>()
  const waiting = new Map<string, (at: number) => void>()
  let floods = 0
  const runner = createControllerRunner(
    {
      name: 'fairness',
      for: configMaps,
      resyncMilliseconds: 0,
      async reconcile({ key, signal }) {
        createHash('sha256').update(payload).digest()
        await answer(key.namespace ?? '', signal)
        if (key.namespace === 'flood') floods += 1
        waiting.get(`${key.namespace} ${store.get(key)?.data?.['version']}`)?.(performance.now())
        return done
      },
    },
    { objects: store, clock: systemClock, random: Math.random, log: silentLog },
  )
  runner.attach({ subscribe: (_type, _scope, listener) => store.subscribe(change => listener(change as never)) })
  store.replace([])
  runner.begin()
  onTestFinished(async () => {
    runner.close()
    runner.abort()
    await runner.end()
  })
  let version = 1
  return {
    floods: () => floods,
    /** Changes every object at once, as one command of a tenant can do. */
    flood(count: number) {
      for (let index = 0; index < count; index++) store.upsert(configMap('flood', `object-${index}`, ++version))
    },
    /** The median time in milliseconds in which consecutive single changes of the other tenant converge. */
    async singleChange(): Promise<number> {
      const times: number[] = []
      for (let index = 0; index < changes; index++) {
        version += 1
        const converged = new Promise<number>(resolve => waiting.set(`other ${version}`, resolve))
        const started = performance.now()
        store.upsert(configMap('other', 'single', version))
        times.push((await converged) - started)
      }
      return times.sort((a, b) => a - b)[changes / 2] ?? Number.NaN
    },
  }
}

test('a tenant that enqueues 10,000 objects does not delay another tenant', async () => {
  const controller = startRunner(() => wait(answerMilliseconds))
  const idle = await controller.singleChange()
  controller.flood(10_000)
  const flooded = await controller.singleChange()
  // The flood was present all the time, and part of it was processed.
  if (controller.floods() === 0 || controller.floods() >= 10_000)
    throw new Error(`the flood did ${controller.floods()} of 10,000`)
  await recordOutcome({
    fault: 18,
    case: 'tenant A enqueues 10,000 objects',
    measure: 'tenant B, one change, against its idle time',
    value: Number((flooded / idle).toFixed(2)),
    unit: '×',
    atMost: 2,
  })
})

test('a tenant whose reconciles hang does not delay another tenant', async () => {
  const controller = startRunner(async (namespace, signal) => {
    if (namespace === 'flood') await wait(3_600_000, undefined, { signal })
    else await wait(answerMilliseconds)
  })
  const idle = await controller.singleChange()
  controller.flood(1000)
  const beside = await controller.singleChange()
  await recordOutcome({
    fault: 18,
    case: "tenant A's reconciles all hang",
    measure: 'tenant B, one change, against its idle time',
    value: Number((beside / idle).toFixed(2)),
    unit: '×',
    atMost: 2,
  })
})
