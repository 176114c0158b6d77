// Applications with real children, whose controller sees the API server through the chaos proxy. Charts render no pods that would have to
// run (replicas: 0), so everything that happens is the controllers' and Kubernetes' own doing.
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { type Application, application } from '../../src/api/application.ts'
import { applicationChart } from '../../src/api/application-chart.ts'
import { deployments, ingresses, services } from '../../src/api/builtin/index.ts'
import type { KubeObject, ResourceType } from '../../src/api/resource.ts'
import { type ChartRenderer, createApplicationController, createChartRenderer } from '../../src/controllers/application/index.ts'
import type { KubeClient } from '../../src/kube/client/client.ts'
import type { KubeClientDeps } from '../../src/kube/client/kube-client.ts'
import { createManager, type Manager, type ManagerDeps } from '../../src/kube/manager.ts'
import { findCondition } from '../../src/kube/object/conditions.ts'
import { createEventRecorder } from '../../src/kube/object/events.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { silentLog } from '../../src/lib/log.ts'
import { installKinds, seeing } from '../integration/application-site.ts'
import { waitUntil, withNamespace } from '../integration/harness.ts'
import { type ChaosSite, fieldManager, patience, until, withChaos } from './chaos-site.ts'

export const childTypes: readonly ResourceType[] = [deployments, services, ingresses]

const ingress = { publicUrl: new URL('http://localhost:8080'), className: 'traefik' }

export const image = (n: number): string => `registry.example.com/acme/shop@sha256:${String(n).repeat(64)}`
export const web = { name: 'web', port: 3000, replicas: 0 }
export const worker = { name: 'worker', replicas: 0 }

/** For a whole test file, at its top: our kinds on the API server, and chart threads that are warm before the first test. */
export function withCharts(): ChartRenderer {
  const renderer = createChartRenderer()
  beforeAll(async () => {
    await installKinds()
    renderer.warmUp()
  })
  afterAll(() => renderer.stop())
  return renderer
}

export type ApplicationWorld = ChaosSite & {
  /** Through the proxy, and blind for other namespaces than this world's. */
  readonly controllersClient: KubeClient
  readonly platformNamespace: string
  readonly apply: (name: string, spec: Record<string, unknown>) => Promise<Application>
  /** The Application as it is, once it runs this image with all its objects and says so. */
  readonly settled: (name: string, n: number) => Promise<Application>
}

export async function withApplications(overrides: Partial<KubeClientDeps> = {}): Promise<ApplicationWorld> {
  const site = await withChaos(overrides)
  const { direct, namespace } = site
  const { name: platformNamespace } = await withNamespace()
  const chart = `chart-${namespace}`
  const { apiVersion, kind } = application
  await direct.apply(
    applicationChart,
    {
      apiVersion: applicationChart.apiVersion,
      kind: applicationChart.kind,
      metadata: { name: chart },
      spec: { builtIn: 'web', timeoutSeconds: 10 },
    },
    { fieldManager },
  )
  onTestFinished(() => direct.delete(applicationChart, { name: chart }))
  return {
    ...site,
    controllersClient: seeing(site.client, namespace),
    platformNamespace,
    apply: (name, spec) =>
      direct.apply(
        application,
        { apiVersion, kind, metadata: { name, namespace }, spec: { chart, ...spec } },
        { fieldManager, force: true },
      ),
    settled: (name, n) =>
      waitUntil(
        `Application ${name} to run image ${n}`,
        async () => {
          const found = await direct.get(application, { namespace, name })
          const missing = found === undefined ? 'it is not there' : await unsettled(direct, found, n)
          if (missing !== undefined) throw new Error(missing)
          return found
        },
        patience,
      ),
  }
}

/** What is missing until the Application runs image n; undefined when nothing is. */
async function unsettled(client: KubeClient, found: Application, n: number): Promise<string | undefined> {
  const { metadata, spec, status } = found
  const ready = findCondition(status?.conditions, 'Ready')
  if (ready?.reason !== 'Available' || ready.observedGeneration !== metadata.generation)
    return `generation ${metadata.generation}: ${JSON.stringify(ready)}`
  if (spec.image !== image(n) || status?.image !== image(n)) return `runs ${status?.image}`
  const { name, namespace = '' } = metadata
  for (const process of spec.processes) {
    const deployment = await client.get(deployments, { namespace, name: `${name}-${process.name}` })
    const images = deployment?.spec?.template.spec?.containers.map(container => container.image)
    if (images?.every(each => each === image(n)) !== true) return `Deployment of ${process.name}: ${JSON.stringify(images)}`
  }
  return undefined
}

/** Everything that the controller decides about an Application, with NAME for its name: to be compared with another one's. */
export async function stateOf(world: ApplicationWorld, name: string): Promise<string> {
  const { direct, namespace } = world
  const { status } = (await direct.get(application, { namespace, name })) ?? {}
  const conditions = status?.conditions?.map(({ type, status, reason, message }) => `${type} ${status} ${reason} ${message}`)
  const children: unknown[] = []
  for (const type of childTypes)
    for (const child of await direct.list(type, { namespace })) {
      if (!child.metadata.ownerReferences?.some(owner => owner.name === name)) continue
      const { kind, metadata } = child
      children.push({
        kind,
        name: metadata.name,
        labels: metadata.labels,
        deleted: metadata.deletionTimestamp !== undefined,
        ...decided(child),
      })
    }
  const state = { image: status?.image, url: status?.url, inventory: status?.inventory, conditions, children }
  return JSON.stringify(state).replaceAll(new RegExp(`\\b${name}\\b`, 'g'), 'NAME')
}

/** A child's spec without what the server chose for it. */
function decided(child: KubeObject & { readonly spec?: unknown }): object {
  return {
    spec: JSON.parse(JSON.stringify(child.spec ?? {}, (key, value) => (/^cluster-?IPs?$/i.test(key) ? undefined : value))),
  }
}

export type RunOptions = Partial<Pick<ManagerDeps, 'relistMilliseconds' | 'leaderElection'>>

export type RunningController = {
  readonly manager: Manager
  /** Reconciles that have ended so far. */
  readonly runs: () => number
  /** None has run for this long. */
  readonly quietFor: (milliseconds: number) => Promise<true>
}

/** Starts the controller, as after a start of the process: no memory of anything. */
export async function startController(
  world: ApplicationWorld,
  renderer: ChartRenderer,
  options: RunOptions = {},
): Promise<RunningController> {
  const { controllersClient: client, platformNamespace } = world
  const manager = createManager({ client, log: silentLog, clock: systemClock, random: Math.random, ...options })
  const events = createEventRecorder({ client, clock: systemClock, log: silentLog, component: 'faults' })
  const controller = createApplicationController({ manager, renderer, events, clock: systemClock, ingress, platformNamespace })
  let began = 0
  let ended = 0
  let last = performance.now()
  manager.add({
    ...controller,
    async reconcile(context) {
      began += 1
      try {
        return await controller.reconcile(context)
      } finally {
        ended += 1
        last = performance.now()
      }
    },
  })
  onTestFinished(() => manager.stop())
  await manager.start()
  return {
    manager,
    runs: () => ended,
    quietFor: milliseconds => until('the controller to rest', () => began === ended && performance.now() - last >= milliseconds),
  }
}
