// Images leave Debian's docker-registry when no object of a real API server names them, asked as the platform's ServiceAccount:
// every kind that may name one keeps its image, and what the registry does with tags, with the paths of other tenants and with
// layers.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { application } from '../../src/api/apps/application.ts'
import { release } from '../../src/api/apps/release.ts'
import { remoteSync } from '../../src/api/apps/remote-sync.ts'
import { cronJobs, daemonSets, deployments, jobs, pods, replicaSets, statefulSets } from '../../src/api/builtin/index.ts'
import { dockerfileBuildLabel } from '../../src/api/dockerfile-build.ts'
import { labels } from '../../src/api/names.ts'
import type { ResourceType } from '../../src/api/resource.ts'
import type { createKubeClient } from '../../src/kube/client/kube-client.ts'
import { silentLog } from '../../src/lib/testing/silent-log.ts'
import { buildScope } from '../../src/services/builds/kpack/build-manifest.ts'
import { hasEnded } from '../../src/services/builds/kpack/build-state.ts'
import { type KpackBuild, kpackBuilds } from '../../src/services/builds/kpack/resources.ts'
import { hasEnded as hasPodEnded } from '../../src/services/builds/pods/pod-status.ts'
import { createCooldowns } from '../../src/services/image-cleanup/cooldowns.ts'
import { createImageClaims } from '../../src/services/image-cleanup/image-claims.ts'
import { type BuildKind, lookAtCluster } from '../../src/services/image-cleanup/look.ts'
import type { ImageResult } from '../../src/services/image-cleanup/metrics.ts'
import { createRegistryImages } from '../../src/services/image-cleanup/registry-images.ts'
import { type RemovalDeps, removeUnused } from '../../src/services/image-cleanup/remove-unused.ts'
import { createRegistryReader, type ReaderAuthorization } from '../../src/services/registry/registry-reader.ts'
import { databases, movableClock, openTestStore, type TestDatabase, type TestStore } from '../fixtures/databases.ts'
import { hasDockerRegistry, startDockerRegistry, type TestRegistry } from '../fixtures/docker-registry.ts'
import { testKubeconfig, withNamespace } from '../fixtures/harness.ts'
import { openKube } from '../fixtures/open-kube.ts'
import { clientOf } from '../fixtures/process-clients.ts'
import { pushTo, request } from '../fixtures/push-image.ts'
import { setStatus } from '../fixtures/statuses.ts'

const day = 86_400
const clock = movableClock(new Date().toISOString())
let registry: TestRegistry
let keeping: TestRegistry
let database: TestDatabase
let store: TestStore
let kube: ReturnType<typeof createKubeClient>
let controllers: Awaited<ReturnType<typeof clientOf>>

beforeAll(async () => {
  if (!hasDockerRegistry) throw new Error('docker-registry is not installed: apt-get install docker-registry (make up does it)')
  const [first] = databases
  if (first === undefined) throw new Error('there is no database')
  database = await first.start()
  store = await openTestStore(database.location, clock)
  registry = await startDockerRegistry([])
  keeping = await startDockerRegistry([], { deletes: false })
  kube = await openKube(testKubeconfig())
  controllers = await clientOf('sekisho-controllers')
})
afterAll(async () => {
  await Promise.all([registry?.stop(), keeping?.stop(), kube?.close(), controllers?.close()])
  await store?.close()
  await database?.stop()
})

const buildKinds: readonly BuildKind[] = [
  { type: kpackBuilds, ...buildScope, hasEnded: build => hasEnded(build as KpackBuild) },
  { type: pods, labelSelector: dockerfileBuildLabel, hasEnded: hasPodEnded },
]

type Platform = {
  readonly round: () => Promise<void>
  readonly days: (count: number) => Promise<void>
  readonly counts: Map<ImageResult, number>
}

/** The service on this registry, with tokens that the platform signs itself unless another account is given. */
function platformOn(
  host: TestRegistry,
  namespace: string,
  authorization?: ReaderAuthorization,
): Platform & { readonly close: () => Promise<void> } {
  const own: ReaderAuthorization = {
    async tokenFor(name, actions) {
      return (await host.issue('platform', [{ type: 'repository', name, actions }])).token
    },
  }
  const reader = createRegistryReader(host.host, authorization ?? own)
  const counts = new Map<ImageResult, number>()
  const deps: RemovalDeps = {
    // Other tests have images in the same registry.
    images: {
      ...store.images,
      due: async (...asked) => (await store.images.due(...asked)).filter(place => place.namespace === namespace),
    },
    registryImages: createRegistryImages(reader),
    look: (namespace, signal) => lookAtCluster({ client: controllers, buildKinds }, namespace, signal),
    isEmptyCluster: () => false,
    cooldowns: createCooldowns({ clock, log: silentLog, observe: () => {} }),
    count: (result, number = 1) => void counts.set(result, (counts.get(result) ?? 0) + number),
    claims: createImageClaims(clock),
    registry: `${host.host}/apps`,
    onlyBuildsPush: true,
    periodMilliseconds: day * 1000,
    isLeader: () => true,
    clock,
    log: silentLog,
  }
  const round = (): Promise<void> => removeUnused(deps, host.host, new AbortController().signal)
  const days = async (count: number): Promise<void> => {
    for (let each = 0; each < count; each++) {
      clock.advance(day)
      await round()
    }
  }
  return { round, days, counts, close: reader.close }
}

/**
 * Pushes an image of the application and records it, as a build and the recording of it do. Resolves to its reference by
 * digest.
 */
async function build(host: TestRegistry, namespace: string, tag: string, content = tag): Promise<string> {
  const repository = `apps/${namespace}/shop`
  const digest = await pushTo(host, { repository, tag }, content)
  const image = {
    registry: host.host,
    repository,
    tag,
    namespace,
    kind: 'Image',
    owner: 'uid-1',
    buildId: crypto.randomUUID(),
    ofPreview: false,
  } as const
  await store.images.record([image], new Date(clock.now().getTime() + day * 1000))
  return `${host.host}/${repository}@${digest}`
}

async function tagsOf(host: TestRegistry, repository: string): Promise<readonly string[]> {
  const answer = await request(host, repository, 'tags/list', { actions: ['pull'] })
  const { tags } = (await answer.json()) as { tags: readonly string[] | null }
  return [...(tags ?? [])].sort()
}

async function make(type: ResourceType, namespace: string, name: string, content: object): Promise<void> {
  const { apiVersion, kind } = type
  await kube.apply(type, { apiVersion, kind, metadata: { namespace, name }, ...content }, { fieldManager: 'test', force: true })
}

const template = (image: string, restartPolicy = 'Always') => ({
  metadata: { labels: { app: 'x' } },
  spec: { restartPolicy, containers: [{ name: 'main', image }] },
})
const workload = (image: string, more: object = {}) => ({
  spec: { selector: { matchLabels: { app: 'x' } }, template: template(image), ...more },
})
const app = (image: string, more: object = {}) => ({ spec: { image, processes: [{ name: 'web', port: 3000 }], ...more } })

/** Each way in which an object of a tenant names an image. */
const ways: Readonly<Record<string, (namespace: string, image: string) => Promise<void>>> = {
  'application-spec': (namespace, image) => make(application, namespace, 'spec', app(image)),
  'application-suspended': (namespace, image) => make(application, namespace, 'suspended', app(image, { suspend: true })),
  'application-status': async (namespace, image) => {
    await make(application, namespace, 'status', app('elsewhere.example.com/a:1'))
    await setStatus(application, namespace, 'status', { image })
  },
  release: (namespace, image) =>
    make(release, namespace, 'shop-v3', {
      spec: {
        application: { name: 'shop', uid: 'uid' },
        number: 3,
        image,
        hash: '8a5edab282632443219e051e4ade2d1d',
        snapshot: { processes: [{ name: 'web', port: 3000 }] },
        by: { kind: 'FieldManager', name: 'kubectl' },
        reason: 'First',
      },
    }),
  'remote-sync-status': async (namespace, image) => {
    await make(remoteSync, namespace, 'shop', {
      spec: {
        ...{ installation: 'acme', repository: 'acme/shop', application: 'shop', requestedBy: 'github|github.com|1' },
        source: { branch: 'main' },
      },
    })
    await setStatus(remoteSync, namespace, 'shop', { image })
  },
  'deployment-without-pods': (namespace, image) => make(deployments, namespace, 'zero', workload(image, { replicas: 0 })),
  'replica-set': (namespace, image) => make(replicaSets, namespace, 'old', workload(image, { replicas: 0 })),
  'stateful-set': (namespace, image) => make(statefulSets, namespace, 'set', workload(image, { replicas: 0, serviceName: 'x' })),
  'daemon-set': (namespace, image) => make(daemonSets, namespace, 'daemons', workload(image)),
  job: (namespace, image) => make(jobs, namespace, 'job', { spec: { template: template(image, 'Never'), suspend: true } }),
  'cron-job': (namespace, image) =>
    make(cronJobs, namespace, 'nightly', {
      spec: { schedule: '0 0 * * *', suspend: true, jobTemplate: { spec: { template: template(image, 'Never') } } },
    }),
  pod: (namespace, image) => make(pods, namespace, 'pod', { spec: { containers: [{ name: 'main', image }] } }),
  'pod-by-tag': (namespace, image) =>
    make(pods, namespace, 'by-tag', { spec: { containers: [{ name: 'main', image: image.replace(/@.*/, ':pod-by-tag') }] } }),
  'init-container': (namespace, image) =>
    make(pods, namespace, 'init', {
      spec: { initContainers: [{ name: 'first', image }], containers: [{ name: 'main', image: 'elsewhere.example.com/a:1' }] },
    }),
}

describe('what is named stays', () => {
  test('whatever names it; only the two that nothing names go', async () => {
    const { name: namespace } = await withNamespace()
    const platform = platformOn(registry, namespace)
    for (const [way, name] of Object.entries(ways)) await name(namespace, await build(registry, namespace, way))
    await build(registry, namespace, 'nobody-1')
    await build(registry, namespace, 'nobody-2')
    await platform.days(4)
    expect(await tagsOf(registry, `apps/${namespace}/shop`)).toEqual(Object.keys(ways).sort())
    expect(platform.counts.get('deleted')).toBe(2)
    await platform.close()
  })

  test('the image of a build that exists, and everything of an application while a build of it runs', async () => {
    const { name: namespace } = await withNamespace()
    const admin = await kube.apply(
      { apiVersion: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false },
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: `${namespace}-build` } },
      { fieldManager: 'test' },
    )
    const platform = platformOn(registry, namespace)
    const image = await build(registry, namespace, 'ended-1')
    await build(registry, namespace, 'other-1')
    const object = (name: string, status: object): Promise<unknown> =>
      make(kpackBuilds, `${namespace}-build`, name, { spec: { tags: [] } }).then(() =>
        setStatus(kpackBuilds, `${namespace}-build`, name, status),
      )
    const metadata = { labels: { [labels.managedBy]: 'sekisho', [labels.application]: 'shop' } }
    await object('ended-1', { latestImage: image, conditions: [{ type: 'Succeeded', status: 'True' }] })
    await object('running-1', {})
    for (const name of ['ended-1', 'running-1'])
      await kube.mergePatch(kpackBuilds, { namespace: `${namespace}-build`, name }, { metadata }, { fieldManager: 'test' })
    await platform.days(4)
    expect(await tagsOf(registry, `apps/${namespace}/shop`)).toEqual(['ended-1', 'other-1'])
    await setStatus(kpackBuilds, `${namespace}-build`, 'running-1', { conditions: [{ type: 'Succeeded', status: 'False' }] })
    await platform.days(2)
    expect(await tagsOf(registry, `apps/${namespace}/shop`)).toEqual(['ended-1'])
    await kube.delete(
      { apiVersion: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false },
      { name: admin.metadata.name },
    )
    await platform.close()
  })

  test('all images of a tenant that is gone go', async () => {
    const namespace = `gone-${Date.now().toString(36)}`
    const platform = platformOn(registry, namespace)
    await build(registry, namespace, 'shop-1')
    await platform.days(2)
    expect(await tagsOf(registry, `apps/${namespace}/shop`)).toEqual([])
    await platform.close()
  })
})

describe('what the registry does', () => {
  test('a digest goes with all its tags in its repository only, and the layers that others need survive the collection', async () => {
    const { name: namespace } = await withNamespace()
    const other = `${namespace}-other`
    const platform = platformOn(registry, namespace)
    await build(registry, namespace, 'shop-1', 'same')
    await build(registry, namespace, 'shop-2', 'same')
    const digest = await pushTo(registry, { repository: `apps/${other}/site`, tag: 'site-1' }, 'same')
    await platform.days(2)
    expect(await tagsOf(registry, `apps/${namespace}/shop`)).toEqual([])
    expect(platform.counts.get('deleted')).toBe(2)
    await registry.collectGarbage()
    const manifest = await request(registry, `apps/${other}/site`, `manifests/${digest}`, { actions: ['pull'] })
    const { layers, config } = (await manifest.json()) as { layers: { digest: string }[]; config: { digest: string } }
    for (const { digest: blob } of [...layers, config])
      expect((await request(registry, `apps/${other}/site`, `blobs/${blob}`, { actions: ['pull'] })).status).toBe(200)
    // The next build of the same content can push it again.
    await build(registry, namespace, 'shop-3', 'same')
    expect(await tagsOf(registry, `apps/${namespace}/shop`)).toEqual(['shop-3'])
    await platform.close()
  })

  test('the token of a read deletes nothing, and an account of the tenant deletes by the challenge', async () => {
    const { name: namespace } = await withNamespace()
    const tenant = { namespace, uid: `uid-${namespace}`, generation: '' }
    registry.tenants.push(tenant)
    const repository = `apps/${namespace}/shop`
    const [, digest = ''] = (await build(registry, namespace, 'shop-1')).split('@')
    const refused = await request(registry, repository, `manifests/${digest}`, { actions: ['pull', 'push'], method: 'DELETE' })
    expect(refused.status).toBe(401)
    const pull = platformOn(registry, namespace, { credentialFor: async () => registry.credentials.ofTenant('pull', tenant) })
    await pull.days(2)
    expect([await tagsOf(registry, repository), pull.counts.get('refused')]).toEqual([['shop-1'], 1])
    await pull.close()
    const own = platformOn(registry, namespace, { credentialFor: async () => registry.credentials.ofTenant('build', tenant) })
    await own.days(1)
    expect(await tagsOf(registry, repository)).toEqual([])
    await own.close()
  })

  test('a registry that deletes nothing answers 405, is asked once, and keeps all', async () => {
    const { name: namespace } = await withNamespace()
    const platform = platformOn(keeping, namespace)
    await build(keeping, namespace, 'shop-1')
    await build(keeping, namespace, 'shop-2')
    await platform.days(2)
    for (let hours = 0; hours < 20; hours++) {
      clock.advance(3600)
      await platform.round()
    }
    expect(platform.counts.get('refused')).toBe(1)
    expect(await tagsOf(keeping, `apps/${namespace}/shop`)).toEqual(['shop-1', 'shop-2'])
    await platform.close()
  })

  test('a registry that is away keeps all', async () => {
    const { name: namespace } = await withNamespace()
    const away = await startDockerRegistry([])
    const platform = platformOn(away, namespace)
    await build(away, namespace, 'shop-1')
    await platform.days(1)
    await away.stop()
    await platform.days(2)
    const left = await store.images.ofRepository({ registry: away.host, repository: `apps/${namespace}/shop` }, 10)
    expect(left.map(({ tag }) => tag)).toEqual(['shop-1'])
    expect(platform.counts.get('deleted')).toBeUndefined()
    await platform.close()
  })
})
