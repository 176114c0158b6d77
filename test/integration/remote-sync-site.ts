// The world around the RemoteSync controller for its tests: a tenant, a repository behind a small GitHub (one REST route and real git, both
// demanding the token), and hands that play the grant controller and kpack. The source store and everything under test are real.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { adminClientFor } from '../../dev/cluster/control-plane/admin-client.ts'
import { application } from '../../src/api/application.ts'
import { applicationChart } from '../../src/api/application-chart.ts'
import { installation } from '../../src/api/installation.ts'
import { wakeAnnotation } from '../../src/api/names.ts'
import { type RemoteSync, remoteSync } from '../../src/api/remote-sync.ts'
import { type RepositoryGrant, repositoryGrant } from '../../src/api/repository-grant.ts'
import type { ResourceType } from '../../src/api/resource.ts'
import { tenant } from '../../src/api/tenant.ts'
import { type ChartRenderer, createApplicationController } from '../../src/controllers/application/index.ts'
import { type KpackBuild, kpackBuilds } from '../../src/controllers/builder/kpack-resources.ts'
import { createRemoteSyncController, kpackInstalled } from '../../src/controllers/remote-sync/index.ts'
import { createSourceServer } from '../../src/controllers/source-store/server.ts'
import { createSourceStore } from '../../src/controllers/source-store/source-store.ts'
import { createManager } from '../../src/kube/manager.ts'
import { mergeConditions } from '../../src/kube/object/conditions.ts'
import { createEventRecorder } from '../../src/kube/object/events.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { silentLog } from '../../src/lib/log.ts'
import { SecretString } from '../../src/lib/secret-string.ts'
import { chartOf, patience, type Site, withSite } from './application-site.ts'
import { testKubeconfig, waitUntil } from './harness.ts'
import { type SmallGitHub, startSmallGitHub, token } from './small-github.ts'

export const fieldManager = 'test'

function openSchema(group: string, kind: string, plural: string, scope: string): Record<string, unknown> {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  const versions = [{ name: 'v1alpha2', served: true, storage: true, subresources: { status: {} }, schema }]
  const names = { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase() }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: { group, scope, names, versions },
  }
}

/** kpack's kinds without kpack: the tests play its controller. */
export const kpackDefinitions = [
  openSchema('kpack.io', 'Build', 'builds', 'Namespaced'),
  openSchema('kpack.io', 'ClusterBuilder', 'clusterbuilders', 'Cluster'),
]

async function setStatus(type: ResourceType, namespace: string | undefined, name: string, status: object): Promise<void> {
  const admin = await adminClientFor(testKubeconfig())
  const group = type.apiVersion.includes('/') ? `/apis/${type.apiVersion}` : `/api/${type.apiVersion}`
  const scope = namespace === undefined ? '' : `/namespaces/${namespace}`
  await admin.call('PATCH', `${group}${scope}/${type.plural}/${name}/status`, { status }, 'application/merge-patch+json')
  await admin.close()
}

const ready = (generation: number, status: 'True' | 'False' = 'True', reason = 'Test') =>
  mergeConditions([], [{ type: 'Ready', status, reason, message: reason }], generation, new Date())

export type World = Site & {
  readonly github: SmallGitHub
  readonly tokenRequests: () => number
  readonly chart: string
  readonly applyRemoteSync: (changes?: Record<string, unknown>, name?: string) => Promise<RemoteSync>
  readonly applyApplication: (name?: string) => Promise<void>
  readonly approve: (name?: string) => Promise<RepositoryGrant>
  /** The build of a commit, as soon as it is there. */
  readonly buildOf: (commit: string, not?: string) => Promise<KpackBuild>
  readonly endBuild: (build: KpackBuild, status: Record<string, unknown>) => Promise<void>
  readonly wake: (name?: string) => Promise<void>
}

/** Starts the RemoteSync and Application controllers in a world of their own. */
export async function withWorld(
  renderer: ChartRenderer,
  options: { readonly concurrentBuilds?: number; readonly site?: Site } = {},
): Promise<World> {
  const site = options.site ?? (await withSite())
  const { client, controllersClient, namespace, platformNamespace } = site
  const github = await startSmallGitHub()
  const chart = chartOf(namespace)
  const meta = (name: string) => ({ name, namespace })
  const account = { host: 'github.localhost', id: 1, login: 'acme', type: 'Organization' }

  const kind = { apiVersion: applicationChart.apiVersion, kind: applicationChart.kind }
  await client.apply(
    applicationChart,
    { ...kind, metadata: { name: chart }, spec: { builtIn: 'web', timeoutSeconds: 5 } },
    { fieldManager },
  )
  const limits = { concurrentBuilds: options.concurrentBuilds ?? 2, tokensPerHour: 10, applications: 10 }
  const tenantObject = {
    apiVersion: tenant.apiVersion,
    kind: tenant.kind,
    metadata: { name: namespace },
    spec: { account, namespace, roles: [], limits },
  }
  await client.apply(tenant, tenantObject, { fieldManager })
  onTestFinished(async () => {
    await client.delete(tenant, { name: namespace })
    await client.delete(applicationChart, { name: chart })
  })
  await setStatus(tenant, undefined, namespace, {
    namespace,
    buildNamespace: namespace,
    observedGeneration: 1,
    conditions: ready(1),
  })
  const installationSpec = {
    app: 'test',
    installationId: 1,
    account,
    boundBy: { id: 1, login: 'ada' },
    proof: { method: 'OrganizationOwner', provedAt: new Date().toISOString() },
    ceiling: { repositories: 'All', permissions: { contents: 'read' } },
  }
  const installationObject = {
    apiVersion: installation.apiVersion,
    kind: installation.kind,
    metadata: meta('github'),
    spec: installationSpec,
  }
  await client.apply(installation, installationObject, { fieldManager })
  await setStatus(installation, namespace, 'github', { observedGeneration: 1, conditions: ready(1) })
  const builder = { apiVersion: 'kpack.io/v1alpha2', kind: 'ClusterBuilder', plural: 'clusterbuilders', namespaced: false }
  await client.apply(
    builder,
    { apiVersion: builder.apiVersion, kind: builder.kind, metadata: { name: 'sekisho' } },
    { fieldManager },
  )
  await setStatus(builder, undefined, 'sekisho', { latestImage: 'registry.example.com/builder@sha256:1', stack: { id: 'base' } })

  const dataFolder = await mkdtemp(join(tmpdir(), 'remote-sync-sources-'))
  const limitsOfSources = { timeoutMilliseconds: 20_000, packedBytes: 1e7, unpackedBytes: 1e7, totalBytes: 1e9 }
  let publicUrl = new URL('http://127.0.0.1:1')
  const storeDeps = {
    dataFolder,
    addressKey: new SecretString('k'.repeat(44)),
    limits: limitsOfSources,
    clock: systemClock,
    log: silentLog,
  }
  const first = createSourceStore({ ...storeDeps, publicUrl })
  await first.open()
  const server = createSourceServer({ store: first, log: silentLog })
  publicUrl = new URL(`http://127.0.0.1:${await server.listen('127.0.0.1', 0)}`)
  const sources = createSourceStore({ ...storeDeps, publicUrl })

  let tokenRequests = 0
  const manager = createManager({ client: controllersClient, log: silentLog, clock: systemClock, random: Math.random })
  const events = createEventRecorder({ client: controllersClient, clock: systemClock, log: silentLog, component: 'test' })
  const ingress = { publicUrl: new URL('http://localhost:8080'), className: 'traefik' }
  manager.add(createApplicationController({ manager, renderer, events, clock: systemClock, ingress, platformNamespace }))
  manager.add(
    createRemoteSyncController({
      manager,
      events,
      clock: systemClock,
      log: silentLog,
      sources,
      platformBuilds: 10,
      sweepMilliseconds: 300_000,
      endpointsOf: async () => ({ host: 'github.localhost', web: github.web, api: `${github.web}/api/v3` }),
      tokens: {
        async request() {
          tokenRequests++
          return { token: new SecretString(token), repositories: [{ id: 7, fullName: 'acme/shop' }] }
        },
      },
      kpack: {
        installed: await kpackInstalled(client),
        settings: {
          registry: 'registry.example.com',
          clusterBuilder: 'sekisho',
          serviceAccount: 'builder',
          resources: { cpuRequest: '10m', memoryRequest: '10Mi', memoryLimit: '1Gi' },
        },
      },
    }),
  )
  await manager.start()
  onTestFinished(async () => {
    await manager.stop()
    await server.close()
    await rm(dataFolder, { recursive: true, force: true })
  })

  return {
    ...site,
    github,
    chart,
    tokenRequests: () => tokenRequests,
    async applyRemoteSync(changes = {}, name = 'shop') {
      const spec = {
        installation: 'github',
        repository: 'acme/shop',
        source: { branch: 'main' },
        build: {},
        application: name,
        requestedBy: 'github|github.localhost|1',
        ...changes,
      }
      const { apiVersion, kind } = remoteSync
      return client.apply(remoteSync, { apiVersion, kind, metadata: meta(name), spec }, { fieldManager, force: true })
    },
    async applyApplication(name = 'shop') {
      const { apiVersion, kind } = application
      const spec = { chart, processes: [{ name: 'web', port: 3000, replicas: 1 }] }
      await client.apply(application, { apiVersion, kind, metadata: meta(name), spec }, { fieldManager })
    },
    async approve(name = 'shop') {
      const grant = await waitUntil(
        `the grant of ${name} is there`,
        async () => {
          const found = await client.get(repositoryGrant, { namespace, name: `remotesync-${name}` })
          return found?.metadata.deletionTimestamp === undefined && found?.status === undefined ? found : undefined
        },
        patience,
      )
      const status = {
        observedGeneration: grant.metadata.generation,
        decision: 'Approved',
        repositories: [{ id: 7, name: 'acme/shop' }],
        conditions: ready(grant.metadata.generation ?? 1),
      }
      await setStatus(repositoryGrant, namespace, grant.metadata.name, status)
      return grant
    },
    buildOf: (commit, not) =>
      waitUntil(
        `a build of ${commit}`,
        async () =>
          (await client.list(kpackBuilds, { namespace })).find(
            build =>
              build.spec.source.git?.revision === commit &&
              build.metadata.name !== not &&
              build.metadata.deletionTimestamp === undefined,
          ),
        patience,
      ),
    endBuild: (build, status) => setStatus(kpackBuilds, namespace, build.metadata.name, status),
    async wake(name = 'shop') {
      const value = `${new Date().toISOString()}/${Math.random().toString(36).slice(2)}`
      await client.mergePatch(
        remoteSync,
        { namespace, name },
        { metadata: { annotations: { [wakeAnnotation]: value } } },
        { fieldManager: 'sekisho.dev/broker' },
      )
    },
  }
}

export const image = (n: number): string => `registry.example.com/acme/shop@sha256:${String(n).repeat(64)}`
export const succeeded = (n: number): Record<string, unknown> => ({
  latestImage: image(n),
  conditions: [{ type: 'Succeeded', status: 'True' }],
})
export const failed = (message: string): Record<string, unknown> => ({
  conditions: [{ type: 'Succeeded', status: 'False', reason: 'Failed', message }],
})
