// A small world for the tests of Applications and RemoteSyncs: the kinds installed, a client that sees one tenant namespace (so that test
// files do not reconcile each other's objects), and a hand that plays the kubelet, because the test control plane runs no pods.
import { onTestFinished } from 'vitest'
import { adminClientFor } from '../../dev/cluster/control-plane/admin-client.ts'
import { applicationChart } from '../../src/api/application-chart.ts'
import { type Pod, pods } from '../../src/api/builtin/index.ts'
import { customResourceDefinition } from '../../src/api/crd.ts'
import { kinds } from '../../src/api/registry.ts'
import type { KubeObject, ResourceType } from '../../src/api/resource.ts'
import type { KubeClient } from '../../src/kube/client/client.ts'
import { createKubeClient } from '../../src/kube/client/kube-client.ts'
import { findCondition } from '../../src/kube/object/conditions.ts'
import { loadKubeConnection } from '../../src/kubeconfig/kubeconfig.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { testKubeconfig, waitUntil, withNamespace } from './harness.ts'
import { narrowed, onlyNamed, recording, type Where, type Writes } from './test-clients.ts'

export const patience = { timeoutMilliseconds: 30_000, everyMilliseconds: 50 }

type ConditionHolder = {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
}

/** Installs definitions and waits until they are served; repeats safely. */
export async function installDefinitions(definitions: readonly Record<string, unknown>[]): Promise<void> {
  const admin = await adminClientFor(testKubeconfig())
  const path = (definition: Record<string, unknown>): string =>
    `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${(definition['metadata'] as { name: string }).name}`
  for (const definition of definitions)
    await admin.call('PATCH', `${path(definition)}?fieldManager=test&force=true`, definition, 'application/apply-patch+yaml')
  for (const definition of definitions)
    await waitUntil(
      `${path(definition)} is established`,
      async () => {
        const answer = (await admin.call('GET', path(definition))) as ConditionHolder
        return answer.status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True') || undefined
      },
      patience,
    )
  await admin.close()
}

export function installKinds(): Promise<void> {
  return installDefinitions(kinds.map(kind => customResourceDefinition(kind)))
}

/** Lists and watches of namespaced kinds see `namespace` only, unless they ask for another one. */
export function seeing(client: KubeClient, namespace: string): KubeClient {
  const within = <O extends Where>(type: ResourceType, options: O): O =>
    type.namespaced && options.namespace === undefined ? { ...options, namespace } : options
  return narrowed(client, within)
}

export type Site = {
  /** For the test: sees everything, records nothing. */
  readonly client: KubeClient
  /** For the controllers. */
  readonly controllersClient: KubeClient
  readonly namespace: string
  readonly platformNamespace: string
  readonly writes: Writes
}

export const chartOf = (namespace: string): string => `chart-${namespace}`

export async function withSite(): Promise<Site> {
  const { name: namespace } = await withNamespace()
  const { name: platformNamespace } = await withNamespace()
  const connection = await loadKubeConnection({ environment: { KUBECONFIG: testKubeconfig() }, clock: systemClock })
  const client = createKubeClient({ connection, component: 'test', clock: systemClock, random: Math.random })
  onTestFinished(() => client.close())
  const writes: Writes = []
  const controllersClient = recording(onlyNamed(seeing(client, namespace), applicationChart, chartOf(namespace)), writes)
  return { client, controllersClient, namespace, platformNamespace, writes }
}

type Conditioned = KubeObject & {
  readonly status?: {
    readonly observedGeneration?: number
    readonly conditions?: readonly import('../../src/api/resource.ts').Condition[]
  }
}

/** Waits for `Ready` to have this reason for the object's present generation. */
export function readyReason<T extends Conditioned>(
  client: KubeClient,
  type: ResourceType<T>,
  namespace: string,
  name: string,
  reason: string,
): Promise<T> {
  let seen = 'no condition'
  return waitUntil(
    `${type.kind} ${name} is ${reason}`,
    async () => {
      const object = await client.get(type, { namespace, name })
      const ready = findCondition(object?.status?.conditions, 'Ready')
      seen = `${ready?.reason}: ${ready?.message}`
      if (object && ready?.reason === reason && ready.observedGeneration === object.metadata.generation) return object
      throw new Error(seen)
    },
    patience,
  )
}

/** Plays the kubelet for one pod. */
export async function setPodStatus(pod: Pod, status: Record<string, unknown>): Promise<void> {
  const admin = await adminClientFor(testKubeconfig())
  const { namespace, name } = pod.metadata
  await admin.call('PATCH', `/api/v1/namespaces/${namespace}/pods/${name}/status`, { status }, 'application/merge-patch+json')
  await admin.close()
}

export function runningStatus(pod: Pod): Record<string, unknown> {
  const now = new Date().toISOString()
  const containerStatuses = (pod.spec?.containers ?? []).map(({ name, image }) => ({
    name,
    image,
    imageID: image,
    ready: true,
    started: true,
    restartCount: 0,
    state: { running: { startedAt: now } },
  }))
  const conditions = ['Ready', 'ContainersReady', 'PodScheduled'].map(type => ({ type, status: 'True', lastTransitionTime: now }))
  return { phase: 'Running', podIP: '10.9.9.9', startTime: now, conditions, containerStatuses }
}

/** The pods whose image is `image`, as soon as there are `count` of them. */
export function podsOf(client: KubeClient, namespace: string, image: string, count: number): Promise<readonly Pod[]> {
  return waitUntil(
    `${count} pods of ${image}`,
    async () => {
      const found = (await client.list(pods, { namespace })).filter(
        pod => pod.metadata.deletionTimestamp === undefined && pod.spec?.containers.some(container => container.image === image),
      )
      return found.length >= count ? found : undefined
    },
    patience,
  )
}

export async function runPods(client: KubeClient, namespace: string, image: string, count: number): Promise<void> {
  for (const pod of await podsOf(client, namespace, image, count)) await setPodStatus(pod, runningStatus(pod))
}
