// Reading kpack's Builds: shapes as a real kpack v0.17.2 writes them.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Pod } from '../../../api/builtin/index.ts'
import { awkwardText, seenIn } from '../../../api/pods/testing/kubelet-expansion.ts'
import type { BuildRequest } from '../builder.ts'
import { tailOf } from '../cause/log-tail.ts'
import { belongsTo, ownerKeys, ownerUids } from '../owner.ts'
import { kpackBuildManifest, pushesOf } from './build-manifest.ts'
import { failedStep, readBuildState } from './build-state.ts'
import type { KpackBuild } from './resources.ts'

const request: BuildRequest = {
  key: { namespace: 'acme-build', name: 'shop-0123456789' },
  owner: { kind: 'RemoteSync', namespace: 'acme', name: 'shop', uid: 'uid-1' },
  application: 'shop',
  strategy: 'Buildpacks',
  resources: {},
  secrets: [],
  source: { url: 'http://10.88.0.1:8081/x/source.git', commit: 'a'.repeat(40), subPath: 'web' },
  env: [{ name: 'BP_X', value: '1' }],
  attempt: 2,
  timeoutSeconds: 600,
  previousImage: '10.88.0.1:5000/acme/shop@sha256:1',
}
const settings = {
  registry: '10.88.0.1:5000',
  clusterBuilder: 'sekisho',
  builders: new Map<string, string>(),
  serviceAccount: 'builder',
  resources: { cpuRequest: '100m', memoryRequest: '128Mi', memoryLimit: '2Gi' },
}
const now = new Date('2026-01-01T00:05:00Z')

function build(status: KpackBuild['status']): KpackBuild {
  const manifest = kpackBuildManifest(request, { configured: 'sekisho', image: 'builder@sha256:2', stack: 'base' }, settings)
  return {
    ...manifest,
    metadata: { ...manifest.metadata, creationTimestamp: '2026-01-01T00:00:00Z' },
    ...(status ? { status } : {}),
  }
}

function failed(message: string): KpackBuild {
  return build({
    conditions: [{ type: 'Succeeded', status: 'False', message }],
    stepsCompleted: ['prepare', 'analyze', 'detect', 'restore'],
  })
}

describe('kpack build', () => {
  test('is of exactly one commit, under the tenant’s own image name, with the last image for its layers', () => {
    expect(build(undefined).spec).toEqual({
      tags: ['10.88.0.1:5000/acme/shop:shop-0123456789'],
      serviceAccountName: 'builder',
      builder: { image: 'builder@sha256:2' },
      cache: { registry: { tag: '10.88.0.1:5000/acme/shop:cache-uid-1' } },
      source: { git: { url: 'http://10.88.0.1:8081/x/source.git', revision: 'a'.repeat(40) }, subPath: 'web' },
      activeDeadlineSeconds: 600,
      env: [{ name: 'BP_X', value: '1' }],
      resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '2Gi' } },
      lastBuild: { image: '10.88.0.1:5000/acme/shop@sha256:1', stackId: 'base' },
    })
  })

  test('pushes the image and the cache that it names', () => {
    const { tags, cache } = build(undefined).spec as unknown as { tags: string[]; cache: { registry: { tag: string } } }
    expect(pushesOf(build(undefined))).toEqual({ image: tags[0], cache: cache.registry.tag })
  })

  test('names its owner under the keys that existing Builds have, and by the kind of the owner', () => {
    const own = build(undefined)
    expect(own.metadata.labels).toMatchObject({ 'sekisho.dev/remote-sync-uid': 'uid-1' })
    expect(own.metadata.annotations).toEqual({
      'builds.sekisho.dev/attempt': '2',
      'builds.sekisho.dev/builder': 'sekisho',
      'sekisho.dev/remote-sync': 'acme/shop',
    })
    expect(ownerKeys(own, 'RemoteSync')).toEqual([{ namespace: 'acme', name: 'shop' }])
    expect(ownerUids(own)).toEqual(['uid-1'])
    expect(belongsTo(own, request.owner)).toBe(true)
    expect(belongsTo(own, { ...request.owner, uid: 'uid-2' })).toBe(false)
    expect(belongsTo(own, { ...request.owner, kind: 'AppPipeline' })).toBe(false)
    expect(ownerKeys(own, 'AppPipeline')).toEqual([])
    const other = kpackBuildManifest(
      { ...request, owner: { ...request.owner, kind: 'AppPipeline' } },
      { configured: 'b', image: 'b' },
      settings,
    )
    expect(other.metadata.labels).toMatchObject({ 'sekisho.dev/app-pipeline-uid': 'uid-1' })
  })

  test('without a status it is preparing, until its timeout and the grace period are over', () => {
    expect(readBuildState(build(undefined), undefined, now)).toMatchObject({
      kind: 'running',
      step: 'prepare',
      needsSource: true,
    })
    expect(readBuildState(build(undefined), undefined, new Date('2026-01-01T00:13:00Z'))).toMatchObject({ kind: 'timed-out' })
  })

  test('takes the current step from the completed steps, not from kpack’s message', () => {
    const running = build({
      conditions: [{ type: 'Succeeded', status: 'Unknown', message: 'Container export waiting' }],
      stepsCompleted: ['prepare', 'analyze'],
      stepStates: [{ terminated: { startedAt: '2026-01-01T00:00:02Z' } }],
    })
    expect(readBuildState(running, undefined, now)).toMatchObject({
      kind: 'running',
      step: 'detect',
      needsSource: false,
      startedAt: '2026-01-01T00:00:02Z',
    })
  })

  test('a success has its image and what that says about the commit, never what was asked for', () => {
    const conditions = [{ type: 'Succeeded', status: 'True' }]
    const ended = build({ conditions, latestImage: 'i@sha256:3' })
    const proof = { kind: 'proven', commit: 'b'.repeat(40) } as const
    expect(readBuildState(ended, { proof }, now)).toEqual({ kind: 'succeeded', image: 'i@sha256:3', proof })
    expect(readBuildState(ended, undefined, now)).toMatchObject({ proof: { kind: 'unreadable' } })
  })

  test('a success says on which run image it is, and which builder with which stack built it', () => {
    const runImage = `sha256:${'a'.repeat(64)}`
    const stack = { id: 'base', runImage: `registry.example.com/run@${runImage}` }
    const ended = build({ conditions: [{ type: 'Succeeded', status: 'True' }], latestImage: 'i@sha256:3', stack })
    expect(readBuildState(ended, undefined, now)).toMatchObject({ runImage, builder: { name: 'sekisho', stack: 'base' } })
  })

  test('a success without an image is a failure', () => {
    const conditions = [{ type: 'Succeeded', status: 'True' }]
    expect(readBuildState(build({ conditions }), undefined, now)).toMatchObject({ kind: 'failed' })
  })

  test('a failure names its step and the last lines of the log, without tokens and control characters', () => {
    const pod: Pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p' },
      status: {
        initContainerStatuses: [
          { name: 'restore', ready: true, restartCount: 0, image: '', imageID: '', state: { terminated: { exitCode: 0 } } },
          { name: 'build', ready: false, restartCount: 0, image: '', imageID: '', state: { terminated: { exitCode: 51 } } },
        ],
      },
    }
    const log =
      'zero\n1\n2\n3\n4\none\ntwo\nthree\n\u001b[31mfour\u001b[0m\nfive ghs_0123456789abcdefghijABCDEFGHIJ012345\n\nsix\n'
    expect(readBuildState(failed('Error: Container build terminated with error x'), { pod, log }, now)).toEqual({
      kind: 'failed',
      step: 'build',
      detail: '1\n2\n3\n4\none\ntwo\nthree\nfour\nfive [redacted]\nsix',
      sourceUnread: false,
      registryRefused: false,
      registryUnreachable: false,
    })
  })

  test('a failure has its cause, from its log or from how its pod ended', () => {
    const log =
      'target distro name/version labels not found, reading /etc/os-release file\nsekisho/node: error: no start command found\nERROR: failed to build: exit status 1\n'
    const ended = readBuildState(failed('x'), { pod: undefined, log }, now)
    expect(ended).toMatchObject({ cause: 'no start command found' })
    expect(JSON.stringify(ended)).not.toContain('target distro')
    const podOf = (status: Pod['status']): Pod => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p' },
      ...(status ? { status } : {}),
    })
    const killed = podOf({
      initContainerStatuses: [
        {
          name: 'build',
          ready: false,
          restartCount: 0,
          image: '',
          imageID: '',
          state: { terminated: { exitCode: 137, reason: 'OOMKilled' } },
        },
      ],
    })
    expect(readBuildState(failed('x'), { pod: killed, log: '' }, now)).toMatchObject({
      cause: expect.stringContaining('resources.memory'),
    })
    const full = podOf({
      reason: 'Evicted',
      message: 'Pod ephemeral local storage usage exceeds the total limit of containers 1Gi.',
    })
    expect(readBuildState(failed('x'), { pod: full, log: '' }, now)).toMatchObject({
      cause: expect.stringContaining('ephemeralStorage'),
    })
  })

  test.each([
    [
      'a node under pressure',
      { reason: 'Evicted', message: 'The node was low on resource: memory.' },
      'the node ended the build',
    ],
    [
      'an image of the builder that cannot be pulled',
      {
        reason: 'DeadlineExceeded',
        initContainerStatuses: [
          {
            name: 'prepare',
            ready: false,
            restartCount: 0,
            image: '',
            imageID: '',
            state: { waiting: { reason: 'ImagePullBackOff' } },
          },
        ],
      },
      'the image of step prepare could not be pulled',
    ],
  ])('%s is a failure of the platform', (_what, status, words) => {
    const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, status }
    expect(readBuildState(failed('x'), { pod, log: '' }, now)).toMatchObject({
      kind: 'failed',
      platformFailure: expect.stringContaining(words),
    })
  })

  test('a build gets the values as they were written', () => {
    fc.assert(
      fc.property(awkwardText, value => {
        const asked = { ...request, env: [{ name: 'BP_X', value }] }
        const { spec } = kpackBuildManifest(asked, { configured: 'b', image: 'b' }, settings)
        // kpack makes a variable of the container `prepare` of each.
        expect(seenIn({ env: spec.env }).env).toEqual({ BP_X: value })
      }),
    )
  })

  test('a build gets the resources, the builder and the secrets that it asks for', () => {
    const asked = { ...request, resources: { cpu: '2', memory: '3Gi', ephemeralStorage: '20Gi' }, secrets: ['npm', 'maven'] }
    const { spec, metadata } = kpackBuildManifest(asked, { configured: 'b', image: 'b' }, settings)
    expect(spec).toMatchObject({
      resources: { requests: { cpu: '2', memory: '3Gi' }, limits: { memory: '3Gi', 'ephemeral-storage': '20Gi' } },
      services: [{ apiVersion: 'v1', kind: 'Secret', name: 'build-secrets-shop-0123456789' }],
    })
    expect(metadata.annotations).toMatchObject({ 'builds.sekisho.dev/secrets': 'npm,maven' })
    expect(ownerUids({ ...build(undefined), metadata })).toEqual(['uid-1'])
    const plain = kpackBuildManifest(request, { configured: 'b', image: 'b' }, settings)
    expect(plain.spec).not.toHaveProperty('services')
    expect(plain.spec).toMatchObject({ resources: { requests: { cpu: '100m' }, limits: { memory: '2Gi' } } })
  })

  test('a refusal of the registry is distinguished from other failures, in the steps that run no code of the tenant', () => {
    const refusal = 'failed to write image: GET https://r/v2/: UNAUTHORIZED: authentication required'
    const state = (step: string) =>
      readBuildState(failed(`Error: Container ${step} terminated with error`), { pod: undefined, log: refusal }, now)
    expect(state('export')).toMatchObject({ step: 'export', registryRefused: true })
    expect(state('analyze')).toMatchObject({ registryRefused: true })
    expect(state('build')).toMatchObject({ registryRefused: false })
  })

  test('no answer of the registry or of its token server is not a refusal, and no code of the tenant can claim it', () => {
    const log = `failed to validate registry write access: ${'x'.repeat(300)}: Get "https://10.96.0.11/token": dial tcp: connect: connection refused`
    const state = (step: string) =>
      readBuildState(failed(`Error: Container ${step} terminated with error`), { pod: undefined, log }, now)
    expect(state('export')).toMatchObject({ registryUnreachable: true, registryRefused: false })
    expect(state('build')).toMatchObject({ registryUnreachable: false, registryRefused: false })
  })

  test('a build that could not read its source differs from one that read it and failed', () => {
    const message = 'Error: Container prepare terminated with error'
    const state = (log: string) => readBuildState(failed(message), { pod: undefined, log }, now)
    const loaded = 'Loading registry credentials from service account secrets\n'
    expect(state(`${loaded}Cloning "x"...\nunable to fetch references`)).toMatchObject({
      ...{ step: 'prepare', sourceUnread: true, registryRefused: false },
    })
    expect(state(`${loaded}Error verifying write access to "r/x": DENIED`)).toMatchObject({ registryRefused: true })
    expect(state('Cloning "x"...\nSuccessfully cloned "x"\nbad project.toml')).toMatchObject({ sourceUnread: false })
  })

  test('without a pod the step comes from kpack’s message, else it is the first incomplete one', () => {
    expect(
      failedStep(failed('Error: Container detect terminated with error no buildpacks participating: For more info'), undefined),
    ).toBe('detect')
    expect(failedStep(failed(''), undefined)).toBe('build')
    expect(readBuildState(failed('Error: nothing worked'), { pod: undefined, log: '' }, now)).toMatchObject({
      detail: 'Error: nothing worked',
    })
  })

  test('a pod beyond its deadline is a timeout, not a failure', () => {
    const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, status: { reason: 'DeadlineExceeded' } }
    expect(
      readBuildState(failed('Pod was active on the node longer than the specified deadline'), { pod, log: '' }, now),
    ).toMatchObject({
      kind: 'timed-out',
      detail: 'it was in step build after 600 s',
    })
  })

  test('a log is bounded however long its lines are', () => {
    expect(tailOf(`${'x'.repeat(100_000)}\n`.repeat(50)).length).toBeLessThanOrEqual(1200)
  })
})
