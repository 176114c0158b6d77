// What a test of faults starts from: a namespace, a way to the API server for the test, and one through the chaos proxy for what is tested.
// Everything ends with the test.
import { randomBytes } from 'node:crypto'
import { onTestFinished } from 'vitest'
import { type ConfigMap, configMaps } from '../../src/api/builtin/index.ts'
import type { KubeObject, ResourceType } from '../../src/api/resource.ts'
import { createReflector } from '../../src/kube/cache/reflector.ts'
import { createObjectStore } from '../../src/kube/cache/store.ts'
import type { KubeClient } from '../../src/kube/client/client.ts'
import { createKubeClient, type KubeClientDeps } from '../../src/kube/client/kube-client.ts'
import { type Clock, systemClock } from '../../src/lib/clock.ts'
import { silentLog } from '../../src/lib/log.ts'
import { testKubeconfig, waitUntil } from '../integration/harness.ts'
import { withKube } from '../integration/kube-access.ts'
import { type ChaosProxy, startChaosProxy } from './chaos-proxy/chaos-proxy.ts'
import { upstreamOf } from './chaos-proxy/upstream.ts'

export const patience = { timeoutMilliseconds: 90_000, everyMilliseconds: 20 }
export const forEver = Number.POSITIVE_INFINITY
export const fieldManager = 'fault-test'

export const until = (what: string, holds: () => boolean | Promise<boolean>): Promise<true> =>
  waitUntil(what, async () => (await holds()) || undefined, patience)

/** Seconds since a moment of `performance.now()`. */
export function secondsSince(moment: number): number {
  return Math.round(performance.now() - moment) / 1000
}

export type ChaosSite = {
  readonly proxy: ChaosProxy
  /** Straight to the API server: for the test's own doings. */
  readonly direct: KubeClient
  /** Through the proxy. */
  readonly client: KubeClient
  readonly namespace: string
}

export async function withProxy(): Promise<ChaosProxy> {
  const proxy = await startChaosProxy(await upstreamOf(testKubeconfig()))
  onTestFinished(() => proxy.close())
  return proxy
}

/** The client as the product makes it, through the proxy. */
export function withClientOf(proxy: ChaosProxy, overrides: Partial<KubeClientDeps> = {}): KubeClient {
  const { connection } = proxy
  const client = createKubeClient({ connection, component: 'faults', clock: systemClock, random: Math.random, ...overrides })
  onTestFinished(() => client.close())
  return client
}

export async function withChaos(overrides: Partial<KubeClientDeps> = {}): Promise<ChaosSite> {
  const { client: direct, namespace } = await withKube()
  const proxy = await withProxy()
  return { proxy, direct, client: withClientOf(proxy, overrides), namespace }
}

export type Mirror = {
  /** Creates or changes an object of the mirrored set, straight on the server. */
  readonly put: (name: string, value: string) => Promise<ConfigMap>
  /** Changes an object that the mirror does not look at. */
  readonly touchOther: () => Promise<ConfigMap>
  /** The store holds exactly what the server holds. */
  readonly equal: () => Promise<true>
}

/** A reflector of ConfigMaps of its own label, synced. */
export async function withMirror(site: ChaosSite, options: { readonly clock?: Clock } = {}): Promise<Mirror> {
  const { direct, client, namespace } = site
  const label = randomBytes(4).toString('hex')
  const scope = { namespace, labelSelector: `mirror=${label}` }
  const store = createObjectStore<ConfigMap>()
  const reflector = createReflector({
    client,
    type: configMaps,
    scope,
    store,
    clock: options.clock ?? systemClock,
    random: Math.random,
    log: silentLog,
  })
  const stopping = new AbortController()
  const running = reflector.run(stopping.signal)
  onTestFinished(async () => {
    stopping.abort()
    await running
  })
  await reflector.synced
  const apply = (name: string, labels: Record<string, string>, value: string): Promise<ConfigMap> =>
    direct.apply(
      configMaps,
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name, labels }, data: { value } },
      { fieldManager, force: true },
    )
  return {
    put: (name, value) => apply(name, { mirror: label }, value),
    touchOther: () => apply('other', {}, randomBytes(4).toString('hex')),
    equal: () =>
      until('the mirror to equal the server', async () => sameObjects(await direct.list(configMaps, scope), store.list())),
  }
}

function sameObjects(one: readonly KubeObject[], other: readonly KubeObject[]): boolean {
  const versions = (objects: readonly KubeObject[]): string =>
    objects
      .map(({ metadata }) => `${metadata.name} ${metadata.uid} ${metadata.resourceVersion}`)
      .sort()
      .join()
  return versions(one) === versions(other)
}

/** Who is who among objects, whatever happens to their content: names with uids. */
export async function uidsOf(client: KubeClient, types: readonly ResourceType[], namespace: string): Promise<readonly string[]> {
  const found: string[] = []
  for (const type of types)
    for (const { metadata } of await client.list(type, { namespace })) found.push(`${type.kind} ${metadata.name} ${metadata.uid}`)
  return found.sort()
}
