// The runtime against a real API server: a small controller of ConfigMaps, broken watch connections, two candidates for one
// lease.

import { randomUUID } from 'node:crypto'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type ConfigMap, configMaps, leases } from '../../src/api/builtin/index.ts'
import type { Applied, KubeClient } from '../../src/kube/client/client.ts'
import { NotLeaderError } from '../../src/kube/client/errors.ts'
import { createKubeClient } from '../../src/kube/client/kube-client.ts'
import { type ControllerDefinition, done, watches } from '../../src/kube/controller/controller.ts'
import { loadKubeConnection } from '../../src/kube/kubeconfig/kubeconfig.ts'
import { createManager, type Manager } from '../../src/kube/manager.ts'
import { ownerReference } from '../../src/kube/object/owner.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { sameJson } from '../../src/lib/json/same-json.ts'
import { silentLog } from '../../src/lib/testing/silent-log.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { testKubeconfig } from '../fixtures/harness.ts'
import { withKube } from '../fixtures/kube-access.ts'
import { startRelay } from '../proxies/relay.ts'

const fieldManager = 'kube-test'

function configMap(namespace: string, name: string, data: Record<string, string>, labels: Record<string, string> = {}) {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name, labels }, data }
}

function managerOf(client: KubeClient, extra: Partial<Parameters<typeof createManager>[0]> = {}): Manager {
  const manager = createManager({ client, log: silentLog, clock: systemClock, random: Math.random, ...extra })
  onTestFinished(() => manager.stop())
  return manager
}

describe('a controller that keeps an upper-case copy of every source', () => {
  async function withToy() {
    const { client, namespace } = await withKube()
    const manager = managerOf(client)
    const runs: string[] = []
    let writes = 0
    const cache = manager.cache(configMaps)
    const controller: ControllerDefinition = {
      name: 'toy',
      for: configMaps,
      owns: [configMaps],
      watches: [watches(configMaps, () => [{ namespace, name: 'alpha' }], { labelSelector: 'wakes=alpha' })],
      resyncMilliseconds: 0,
      async reconcile({ key }) {
        const source = cache.get(key)
        if (key.namespace !== namespace || source?.metadata.labels?.['toy'] !== 'source') return done
        runs.push(key.name)
        const text = (source.data?.['text'] ?? '').toUpperCase()
        const name = `${key.name}-copy`
        const held = cache.get({ namespace, name })
        if (sameJson(held?.data, { text })) return done
        const wanted: Applied = {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { namespace, name, ownerReferences: [ownerReference(source, { controller: true })] },
          data: { text },
        }
        writes += 1
        await manager.client.apply(configMaps, wanted, { fieldManager, force: true })
        return done
      },
    }
    manager.add(controller)
    const copyIs = (name: string, text: string) =>
      waitUntil(`${name}-copy to be ${text}`, async () => {
        const copy = await client.get(configMaps, { namespace, name: `${name}-copy` })
        return copy?.data?.['text'] === text ? copy : undefined
      })
    const source = (name: string, text: string) => configMap(namespace, name, { text }, { toy: 'source' })
    // All earlier changes have been observed once a later change of another object has been handled.
    let barriers = 0
    const settled = async () => {
      const name = `barrier-${barriers++}`
      await client.create(configMaps, source(name, name), { fieldManager })
      await copyIs(name, name.toUpperCase())
      await waitUntil('copy in the cache', async () => cache.get({ namespace, name: `${name}-copy` }))
    }
    const runsOf = (name: string) => runs.filter(run => run === name).length
    return { client, namespace, manager, cache, runs, runsOf, writes: () => writes, copyIs, source, settled }
  }

  test('acts on existing objects, on every change, on a changed child, and on mapped objects', async () => {
    const toy = await withToy()
    const { client, namespace } = toy
    await client.create(configMaps, toy.source('alpha', 'one'), { fieldManager })
    expect(toy.manager.ready()).toBe(false)
    await toy.manager.start()
    expect(toy.manager.ready()).toBe(true)
    await toy.copyIs('alpha', 'ONE')
    await client.mergePatch(configMaps, { namespace, name: 'alpha' }, { data: { text: 'two' } }, { fieldManager })
    const copy = await toy.copyIs('alpha', 'TWO')
    await client.mergePatch(configMaps, { namespace, name: 'alpha-copy' }, { data: { text: 'astray' } }, { fieldManager })
    await toy.copyIs('alpha', 'TWO')
    await client.delete(configMaps, { namespace, name: 'alpha-copy' })
    const again = await toy.copyIs('alpha', 'TWO')
    expect(again.metadata.uid).not.toBe(copy.metadata.uid)
    await toy.settled()
    const before = toy.runsOf('alpha')
    await client.create(configMaps, configMap(namespace, 'bell', {}, { wakes: 'alpha' }), { fieldManager })
    await waitUntil('the mapped wake-up', async () => toy.runsOf('alpha') > before)
  })

  test('reconciles once per change, and the second run writes nothing', async () => {
    const toy = await withToy()
    const { client, namespace } = toy
    await toy.manager.start()
    await client.create(configMaps, toy.source('beta', 'one'), { fieldManager })
    const copy = await toy.copyIs('beta', 'ONE')
    await toy.settled()
    // One for the source, one for the new copy.
    expect(toy.runsOf('beta')).toBe(2)
    await client.mergePatch(configMaps, { namespace, name: 'beta' }, { metadata: { annotations: { a: 'b' } } }, { fieldManager })
    await toy.settled()
    expect(toy.runsOf('beta')).toBe(3)
    const writes = toy.writes()
    await client.mergePatch(configMaps, { namespace, name: 'beta' }, { metadata: { annotations: { a: 'c' } } }, { fieldManager })
    await toy.settled()
    // The copy of the barrier object is the only write.
    expect(toy.writes()).toBe(writes + 1)
    const unchanged = await client.get(configMaps, { namespace, name: 'beta-copy' })
    expect(unchanged?.metadata.resourceVersion).toBe(copy.metadata.resourceVersion)
  })
})

/** A TCP relay in front of the API server whose connections a test can cut or freeze. */
async function withRelay() {
  const direct = await loadKubeConnection({ environment: { KUBECONFIG: testKubeconfig() }, clock: systemClock })
  let frozen = false
  let connections = 0
  const target = { host: direct.server.hostname, port: Number(direct.server.port) }
  const relay = await startRelay(() => target, {
    pass({ near, far }) {
      connections += 1
      near.pipe(far)
      far.on('data', chunk => {
        if (!frozen) near.write(chunk)
      })
    },
  })
  onTestFinished(relay.close)
  const client = createKubeClient({
    connection: { ...direct, server: new URL(`https://127.0.0.1:${relay.port}`) },
    component: 'test-relay',
    clock: systemClock,
    random: Math.random,
    requestMilliseconds: 2000,
    watchSilenceMilliseconds: 1500,
  })
  onTestFinished(() => client.close())
  return {
    client,
    cut: relay.cut,
    freeze: (on: boolean) => {
      frozen = on
    },
    connections: () => connections,
  }
}

describe('watching over an unreliable network', () => {
  async function withMirror() {
    const { client, namespace } = await withKube()
    const relay = await withRelay()
    let lists = 0
    const counted: KubeClient = {
      ...relay.client,
      snapshot: (type, options) => {
        lists += 1
        return relay.client.snapshot(type, options)
      },
    }
    const manager = managerOf(counted)
    const cache = manager.cache(configMaps, { namespace, labelSelector: 'mirror=yes' })
    await manager.start()
    const put = (name: string, value: string) =>
      client.apply(configMaps, configMap(namespace, name, { value }, { mirror: 'yes' }), { fieldManager, force: true })
    const equal = () =>
      waitUntil('the cache to equal the server', async () => {
        const there = await client.list(configMaps, { namespace, labelSelector: 'mirror=yes' })
        const versions = (objects: readonly ConfigMap[]) =>
          objects.map(({ metadata }) => `${metadata.name} ${metadata.uid} ${metadata.resourceVersion}`).sort()
        return sameJson(versions(there), versions(cache.list())) ? true : undefined
      })
    return { client, namespace, relay, cache, put, equal, lists: () => lists }
  }

  test('resumes after the connection breaks, without a list and without losing an event', async () => {
    const mirror = await withMirror()
    await mirror.put('a', '1')
    await mirror.put('gone', '1')
    await mirror.equal()
    mirror.relay.cut()
    await mirror.put('a', '2')
    await mirror.put('b', '1')
    await mirror.client.delete(configMaps, { namespace: mirror.namespace, name: 'gone' })
    await mirror.equal()
    expect(mirror.cache.get({ namespace: mirror.namespace, name: 'gone' })).toBeUndefined()
    expect(mirror.cache.get({ namespace: mirror.namespace, name: 'a' })?.data).toEqual({ value: '2' })
    expect(mirror.lists()).toBe(1)
  })

  test('detects a connection that is open but dead, and recovers', async () => {
    const mirror = await withMirror()
    await mirror.put('a', '1')
    await mirror.equal()
    const before = mirror.relay.connections()
    mirror.relay.freeze(true)
    await mirror.put('a', '2')
    await waitUntil('a new connection', async () => mirror.relay.connections() > before)
    mirror.relay.freeze(false)
    mirror.relay.cut()
    await mirror.equal()
    expect(mirror.cache.get({ namespace: mirror.namespace, name: 'a' })?.data).toEqual({ value: '2' })
  })
})

test('a kind without changes in scope is watched repeatedly without a list, from a version that advances with the rest of the kind', async () => {
  const { client, namespace } = await withKube()
  const elsewhere = await withKube({ watchSilenceMilliseconds: 5000 })
  const starts: string[] = []
  let lists = 0
  const counted: KubeClient = {
    ...elsewhere.client,
    snapshot: (type, options) => {
      lists += 1
      return elsewhere.client.snapshot(type, options)
    },
    watch: (type, options) => {
      starts.push(options.resourceVersion)
      return elsewhere.client.watch(type, options)
    },
  }
  const manager = managerOf(counted)
  const cache = manager.cache(configMaps, { namespace: elsewhere.namespace, labelSelector: 'nobody=has-this' })
  await manager.start()
  let writes = 0
  await waitUntil('three more watches', async () => {
    await client.apply(configMaps, configMap(namespace, 'busy', { value: String(++writes) }), { fieldManager, force: true })
    return starts.length > 3
  })
  expect(cache.list()).toEqual([])
  expect(lists).toBe(1)
  const numbers = starts.map(Number)
  expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
  expect(numbers.at(-1)).toBeGreaterThan(numbers[0] ?? Number.POSITIVE_INFINITY)
})

describe('leader election', () => {
  test('one candidate leads, the other follows and serves; after a stop the other leads at once', async () => {
    const { client, namespace } = await withKube()
    const election = {
      namespace,
      name: 'sekisho',
      // Longer than any wait of this test: whoever leads next, leads because the former gave the lease back.
      times: { durationMilliseconds: 3_600_000, renewDeadlineMilliseconds: 3_000_000, retryMilliseconds: 200 },
    }
    const candidate = (identity: string) => {
      const manager = managerOf(client, { leaderElection: { ...election, identity } })
      const seen: string[] = []
      const cache = manager.cache(configMaps, { namespace })
      manager.add({
        name: 'watcher',
        for: configMaps,
        async reconcile({ key }) {
          if (key.namespace === namespace) seen.push(key.name)
          return done
        },
      })
      return { manager, seen, cache }
    }
    const first = candidate('first')
    await first.manager.start()
    await waitUntil('the first to lead', async () => first.manager.isLeader())
    const second = candidate('second')
    await second.manager.start()
    expect(second.manager.ready()).toBe(true)
    expect(second.manager.isLeader()).toBe(false)
    const name = randomUUID()
    await first.manager.client.create(configMaps, configMap(namespace, name, {}), { fieldManager })
    await waitUntil('the leader to reconcile', async () => first.seen.includes(name))
    await waitUntil('the follower to see it', async () => second.cache.get({ namespace, name }))
    expect(second.seen).toEqual([])
    const refused = second.manager.client.create(configMaps, configMap(namespace, 'no', {}), { fieldManager })
    await expect(refused).rejects.toBeInstanceOf(NotLeaderError)
    await first.manager.stop()
    expect(first.manager.isLeader()).toBe(false)
    await waitUntil('the second to lead', async () => second.manager.isLeader())
    await waitUntil('the new leader to reconcile what is there', async () => second.seen.includes(name))
    const lease = await client.get(leases, { namespace, name: 'sekisho' })
    expect(lease?.spec?.holderIdentity).toMatch(/^second_/)
    expect(lease?.spec?.leaseTransitions).toBe(1)
  })

  test('a dead leader is followed after its lease expires, not before', async () => {
    const { client, namespace } = await withKube()
    const spec = {
      holderIdentity: 'dead',
      leaseDurationSeconds: 2,
      renewTime: '2020-01-01T00:00:00.000000Z',
      acquireTime: '2020-01-01T00:00:00.000000Z',
    }
    const metadata = { namespace, name: 'sekisho' }
    await client.create(leases, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec }, { fieldManager })
    const times = { durationMilliseconds: 2000, renewDeadlineMilliseconds: 1500, retryMilliseconds: 100 }
    const manager = managerOf(client, { leaderElection: { ...metadata, identity: 'heir', times } })
    const started = performance.now()
    await manager.start()
    await waitUntil('the heir to lead', async () => manager.isLeader())
    // The time in the record is old, but only our own observation counts.
    expect(performance.now() - started).toBeGreaterThan(1900)
  })
})

test('a kind that cannot be listed fails the start with its name and the reason', async () => {
  const { client } = await withKube()
  const manager = managerOf(client, { syncMilliseconds: 1500 })
  manager.cache({ apiVersion: 'nowhere.sekisho.dev/v1', kind: 'Nothing', plural: 'nothings', namespaced: true })
  await expect(manager.start()).rejects.toThrow(/nowhere.sekisho.dev\/v1 nothings.*404/)
})
