// The pod of a build with buildpacks, and reading it: shapes as a kubelet of Kubernetes 1.35 writes them.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Pod } from '../../../api/builtin/index.ts'
import { awkwardText, seenIn } from '../../../api/pods/testing/kubelet-expansion.ts'
import type { BuildRequest } from '../builder.ts'
import { kpackBuildManifest, pushesOf as pushesOfKpack } from '../kpack/build-manifest.ts'
import { hasEnded } from '../pods/pod-status.ts'
import { observedPod, type State } from '../pods/testing/observed-pod.ts'
import type { KnownBuilder } from './known-builder.ts'
import { type BuildpacksSettings, buildpacksPod, pushesOf, sourceOf } from './pod-manifest.ts'
import { buildProgress, builtImage, readPodState } from './pod-state.ts'

const commit = 'a'.repeat(40)
const digest = `sha256:${'c'.repeat(64)}`
const runImage = `10.88.0.1:5001/cnb/builder-run-image@sha256:${'d'.repeat(64)}`
const request: BuildRequest = {
  key: { namespace: 'acme-build', name: 'shop-0123456789' },
  owner: { kind: 'RemoteSync', namespace: 'acme', name: 'shop', uid: 'uid-1' },
  application: 'shop',
  strategy: 'Buildpacks',
  resources: { cpu: '2', memory: '3Gi', ephemeralStorage: '20Gi' },
  secrets: ['npm', 'maven'],
  attempt: 2,
  source: { url: 'http://10.88.0.1:8081/x/source.git', commit, subPath: 'web' },
  env: [{ name: 'IMAGE_TAG', value: 'other:tag' }],
  timeoutSeconds: 600,
  previousImage: '10.88.0.1:5001/apps/acme/shop@sha256:1',
}
const builder: KnownBuilder = {
  configured: 'sekisho',
  image: '10.88.0.1:5001/cnb/builder@sha256:2',
  stack: 'base',
  runImage,
  user: 1001,
  group: 1000,
  buildpacks: ['platform/prepare', 'sekisho/node'],
}
const settings: BuildpacksSettings = {
  registry: '10.88.0.1:5001/apps',
  clusterBuilder: 'sekisho',
  builders: new Map(),
  serviceAccount: 'builder',
  resources: { cpuRequest: '100m', memoryRequest: '128Mi', memoryLimit: '1Gi' },
  image: `10.88.0.1:5001/cnb/phases@sha256:${'b'.repeat(64)}`,
  credential: 'sekisho-registry-build',
}
const now = new Date('2026-01-01T00:05:00Z')

const ok: State = { terminated: { exitCode: 0 } }
const failing = (exitCode: number): State => ({ terminated: { exitCode } })

const pod = (more: Pod['status'], states: Readonly<Record<string, State>> = {}): Pod =>
  observedPod(buildpacksPod(request, builder, settings), 'export', more, states)

type Mount = { readonly name: string; readonly mountPath: string; readonly readOnly?: boolean; readonly subPath?: string }

describe('the pod of a build with buildpacks', () => {
  const { metadata, spec } = buildpacksPod(request, builder, settings)
  const all = [...spec.initContainers, ...spec.containers]
  const named = (name: string) => all.find(container => container.name === name) ?? expect.fail()
  const mountsOf = (name: string) => named(name)['volumeMounts'] as readonly Mount[]
  const envOf = (name: string) =>
    Object.fromEntries((named(name)['env'] as { name: string; value: string }[]).map(variable => [variable.name, variable.value]))

  test('has three containers, of which only the one in the middle is of the builder image', () => {
    expect(spec.initContainers.map(({ name, image }) => [name, image])).toEqual([
      ['prepare', settings.image],
      ['build', builder.image],
    ])
    expect(spec.containers.map(({ name, image }) => [name, image])).toEqual([['export', settings.image]])
  })

  test('gives the credential to the containers that run no code of the tenant, and the secrets to the other one', () => {
    const volumes = (name: string) => mountsOf(name).map(mount => mount.name)
    expect(volumes('build')).toEqual(['workspace', 'layers', 'platform', 'tools', 'secrets'])
    expect(volumes('prepare').filter(name => /credential|home|secrets/.test(name))).toEqual([
      'home',
      'credential',
      'credential-of-kpack',
    ])
    expect(volumes('export').filter(name => /credential|home|secrets/.test(name))).toEqual(['credential'])
    expect(envOf('build')).toEqual({ CNB_PLATFORM_API: '0.9' })
    expect(envOf('prepare')).toMatchObject({ DOCKER_CONFIG: '/var/build-secrets/docker' })
    expect(named('prepare')['args']).toEqual(['-dockerconfig=sekisho-registry-build'])
    expect(mountsOf('build').at(-1)).toMatchObject({
      mountPath: '/platform/bindings/build-secrets-shop-0123456789',
      readOnly: true,
    })
    expect(metadata.annotations['builds.sekisho.dev/secrets']).toBe('npm,maven')
  })

  test('what the first container hands to the last is out of reach of the one between, and read-only where it is used', () => {
    expect(mountsOf('build').some(({ name }) => name === 'handed')).toBe(false)
    expect(mountsOf('export').find(({ name }) => name === 'handed')).toMatchObject({ readOnly: true })
    expect(mountsOf('build').find(({ name }) => name === 'tools')).toMatchObject({ readOnly: true })
    // No volume that code of the tenant fills lies above a credential.
    for (const container of ['prepare', 'export'])
      for (const { mountPath, name } of mountsOf(container))
        if (name.startsWith('credential'))
          expect(['/workspace', '/layers', '/platform', '/tmp'].some(folder => mountPath.startsWith(folder))).toBe(false)
  })

  test('is restricted, with a root of its own only where the builder needs to write', () => {
    for (const container of all)
      expect(container['securityContext']).toMatchObject({
        runAsNonRoot: true,
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'] },
        seccompProfile: { type: 'RuntimeDefault' },
      })
    expect(named('prepare')['securityContext']).toMatchObject({ readOnlyRootFilesystem: true })
    expect(named('export')['securityContext']).toMatchObject({ readOnlyRootFilesystem: true })
    expect(spec).toMatchObject({
      automountServiceAccountToken: false,
      serviceAccountName: 'builder',
      restartPolicy: 'Never',
      activeDeadlineSeconds: 600,
      securityContext: { runAsUser: 1001, runAsGroup: 1000, fsGroup: 1000 },
    })
    for (const volume of spec.volumes) expect(Object.keys(volume)).toContainEqual(expect.stringMatching(/^(emptyDir|secret)$/))
  })

  test('a variable of the build is for buildpacks alone, whatever its name is', () => {
    expect(envOf('prepare')).toMatchObject({
      PLATFORM_ENV_IMAGE_TAG: 'other:tag',
      IMAGE_TAG: '10.88.0.1:5001/apps/acme/shop:shop-0123456789',
      PREVIOUS_IMAGE: '10.88.0.1:5001/apps/acme/shop@sha256:1',
      RUN_IMAGE: runImage,
      BUILDPACKS: 'platform/prepare sekisho/node',
    })
  })

  test('gives values and folders to the build as they were written', () => {
    fc.assert(
      fc.property(awkwardText, value => {
        const asked = { ...request, source: { ...request.source, subPath: value }, env: [{ name: 'MODE', value }] }
        const [prepare, build] = buildpacksPod(asked, builder, settings).spec.initContainers
        expect(seenIn(prepare ?? {}).env).toMatchObject({ PLATFORM_ENV_MODE: value, SOURCE_SUB_PATH: value })
        expect(build?.['volumeMounts']).toContainEqual({ name: 'workspace', mountPath: '/workspace', subPath: value })
      }),
    )
  })

  test('builds a folder of the repository, and reads the source that it names', () => {
    const folder = (name: string) => mountsOf(name).find(mount => mount.name === 'workspace')?.subPath
    expect([folder('prepare'), folder('build'), folder('export')]).toEqual([undefined, 'web', 'web'])
    expect(sourceOf(pod({}))).toEqual({ url: request.source.url, commit })
  })

  test('has the resources that were asked for in each container, and the defaults else', () => {
    const limits = { memory: '3Gi', 'ephemeral-storage': '20Gi' }
    for (const container of all) expect(container['resources']).toEqual({ requests: { cpu: '2', memory: '3Gi' }, limits })
    const plain = buildpacksPod({ ...request, resources: {}, secrets: [] }, builder, settings)
    expect(plain.spec.containers[0]?.['resources']).toEqual({
      requests: { cpu: '100m', memory: '128Mi' },
      limits: { memory: '1Gi' },
    })
    expect(JSON.stringify(plain)).not.toContain('build-secrets-')
  })

  test('pushes what a Build of kpack for the same request pushes, under the same labels', () => {
    const kpack = kpackBuildManifest(request, builder, settings)
    expect(pushesOf(pod({}))).toEqual(pushesOfKpack(kpack))
    expect(metadata.labels).toEqual({ 'sekisho.dev/buildpacks-build': request.key.name, ...kpack.metadata.labels })
    expect(metadata.annotations).toMatchObject(kpack.metadata.annotations ?? {})
  })

  test('mounts no credential where the registry asks for none', () => {
    const open = buildpacksPod(request, builder, { ...settings, credential: undefined })
    expect(JSON.stringify(open)).not.toMatch(/DOCKER_CONFIG|dockerconfig|"credential/)
  })
})

describe('its state', () => {
  test('needs the source until the first container has ended', () => {
    expect(readPodState(pod({ phase: 'Pending' }, { prepare: { running: {} } }), {}, now)).toEqual({
      kind: 'running',
      step: 'prepare',
      needsSource: true,
      unscheduled: false,
      startedAt: '2026-01-01T00:00:01Z',
      deadline: new Date('2026-01-01T00:12:00Z'),
    })
    const building = pod({ phase: 'Pending' }, { prepare: ok, build: { running: {} } })
    expect(readPodState(building, {}, now)).toMatchObject({ step: 'build', needsSource: false })
    const conditions = [{ type: 'PodScheduled', status: 'False', message: '0/1 nodes are available: 1 Insufficient cpu.' }]
    const waiting = pod({ phase: 'Pending', conditions }, {})
    expect(readPodState(waiting, {}, now)).toMatchObject({ unscheduled: true })
    expect(buildProgress(waiting)).not.toEqual(buildProgress(pod({ phase: 'Pending' }, {})))
    expect(hasEnded(building)).toBe(false)
    expect(readPodState(pod({ phase: 'Running' }, { prepare: ok, build: ok, export: { running: {} } }), {}, now)).toMatchObject({
      step: 'export',
    })
  })

  test('is an image by the digest that the last container reported, on its run image, of its builder', () => {
    const states = { prepare: ok, build: ok, export: { terminated: { exitCode: 0, message: digest } } }
    const ended = pod({ phase: 'Succeeded' }, states)
    expect(builtImage(ended)).toBe(`10.88.0.1:5001/apps/acme/shop@${digest}`)
    const proof = { kind: 'proven', commit } as const
    expect(readPodState(ended, { proof }, now)).toEqual({
      kind: 'succeeded',
      image: `10.88.0.1:5001/apps/acme/shop@${digest}`,
      proof,
      runImage: `sha256:${'d'.repeat(64)}`,
      builder: { name: 'sekisho', stack: 'base' },
      startedAt: '2026-01-01T00:00:01Z',
    })
  })

  test.each(['', 'latest', `${digest} and more`])('is a failure when the last container reports %j as digest', message => {
    const ended = pod({ phase: 'Succeeded' }, { prepare: ok, build: ok, export: { terminated: { exitCode: 0, message } } })
    expect(readPodState(ended, {}, now)).toMatchObject({ kind: 'failed', step: 'export', sourceUnread: false })
  })

  test.each([
    [{ prepare: failing(1) }, 'prepare'],
    [{ prepare: failing(32) }, 'analyze'],
    [{ prepare: failing(42) }, 'restore'],
    [{ prepare: ok, build: failing(20) }, 'detect'],
    [{ prepare: ok, build: failing(51) }, 'build'],
    [{ prepare: ok, build: failing(137) }, 'build'],
    [{ prepare: ok, build: ok, export: failing(62) }, 'export'],
  ])('names the step that failed: %j', (states, step) => {
    expect(readPodState(pod({ phase: 'Failed' }, states), { log: 'x' }, now)).toMatchObject({ kind: 'failed', step, detail: 'x' })
  })

  test('a build that could not read its source differs from one that read it and failed', () => {
    const state = (log: string, code = 1) => readPodState(pod({ phase: 'Failed' }, { prepare: failing(code) }), { log }, now)
    expect(state('Cloning "x"...\nunable to fetch references')).toMatchObject({ sourceUnread: true })
    expect(state('Successfully cloned "x"\nbad project.toml')).toMatchObject({ sourceUnread: false })
    expect(state('Successfully cloned "x"\nERROR: failed', 32)).toMatchObject({ sourceUnread: false })
  })

  test('believes what is said about the registry only where no code of the tenant runs', () => {
    const refusal = 'ERROR: GET https://r/v2/: UNAUTHORIZED: authentication required'
    const away = 'ERROR: failed to validate registry write access: dial tcp 10.88.0.1:5001: connect: connection refused'
    const state = (states: Readonly<Record<string, State>>, log: string) =>
      readPodState(pod({ phase: 'Failed' }, states), { log }, now)
    const exporting = { prepare: ok, build: ok, export: failing(62) }
    expect(state(exporting, refusal)).toMatchObject({ registryRefused: true, registryUnreachable: false })
    expect(state(exporting, away)).toMatchObject({ registryRefused: false, registryUnreachable: true })
    expect(state({ prepare: failing(32) }, away)).toMatchObject({ registryUnreachable: true })
    const loaded = 'Loading registry credentials from service account secrets\nERROR: failed to analyze'
    expect(state({ prepare: failing(32) }, loaded)).toMatchObject({ registryRefused: false, registryUnreachable: false })
    for (const log of [refusal, away])
      expect(state({ prepare: ok, build: failing(51) }, log)).toMatchObject({
        registryRefused: false,
        registryUnreachable: false,
      })
  })

  test('is timed out at its deadline, and when it has not ended long after it', () => {
    const late = pod({ phase: 'Failed', reason: 'DeadlineExceeded' }, { prepare: ok })
    expect(readPodState(late, {}, now)).toMatchObject({ kind: 'timed-out', detail: 'it was in step build after 600 s' })
    expect(readPodState(pod({ phase: 'Pending' }, { prepare: ok }), {}, new Date('2026-01-01T00:12:00Z'))).toMatchObject({
      kind: 'timed-out',
    })
  })

  test('has the cause of its log, and of its limits', () => {
    const building = { prepare: ok, build: failing(51) }
    const log = 'sekisho/node: error: no start command found\nERROR: failed to build: exit status 1\n'
    expect(readPodState(pod({ phase: 'Failed' }, building), { log }, now)).toMatchObject({ cause: 'no start command found' })
    const killed = { prepare: ok, build: { terminated: { exitCode: 137, reason: 'OOMKilled' } } }
    expect(readPodState(pod({ phase: 'Failed' }, killed), { log: '' }, now)).toMatchObject({
      cause: expect.stringContaining('resources.memory'),
    })
    const message = 'The node was low on resource: memory.'
    expect(readPodState(pod({ phase: 'Failed', reason: 'Evicted', message }, building), {}, now)).toMatchObject({
      platformFailure: expect.stringContaining('the node ended the build'),
    })
  })
})
