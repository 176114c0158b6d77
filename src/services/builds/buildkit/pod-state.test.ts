// Reading the pods of Dockerfile builds: shapes as a kubelet of Kubernetes 1.35 writes them.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Pod } from '../../../api/builtin/index.ts'
import { awkwardText, seenIn } from '../../../api/pods/testing/kubelet-expansion.ts'
import type { BuildRequest } from '../builder.ts'
import { hasEnded } from '../pods/pod-status.ts'
import { observedPod, type State } from '../pods/testing/observed-pod.ts'
import { type BuildkitSettings, buildkitPod, pushesOf } from './pod-manifest.ts'
import { buildProgress, builtImage, commitOfRevision, readPodState } from './pod-state.ts'

const commit = 'a'.repeat(40)
const request: BuildRequest = {
  key: { namespace: 'acme-build', name: 'shop-0123456789' },
  owner: { kind: 'RemoteSync', namespace: 'acme', name: 'shop', uid: 'uid-1' },
  application: 'shop',
  strategy: 'Dockerfile',
  resources: { memory: '3Gi' },
  secrets: [],
  attempt: 1,
  source: { url: 'http://10.88.0.1:8081/x/source.git', commit, subPath: 'web' },
  env: [
    { name: 'MODE', value: 'a,b=c --opt=target=other' },
    { name: 'BUILDKIT_SYNTAX', value: 'evil/frontend' },
  ],
  dockerfile: { path: 'docker/Dockerfile', args: [{ name: 'BASE', value: 'debian' }], target: 'runtime' },
  timeoutSeconds: 600,
}
const settings: BuildkitSettings = {
  registry: '10.88.0.1:5001/apps',
  image: `10.88.0.1:5001/cnb/buildkit@sha256:${'b'.repeat(64)}`,
  serviceAccount: 'builder',
  credential: 'sekisho-registry-build',
}
const now = new Date('2026-01-01T00:05:00Z')
const digest = `sha256:${'c'.repeat(64)}`

const pod = (more: Pod['status'], states: Readonly<Record<string, State>> = {}): Pod =>
  observedPod(buildkitPod(request, settings, true), 'build', more, states)

const fetched = { source: { terminated: { exitCode: 0 } }, buildkitd: { running: {} } }

describe('the pod of a Dockerfile build', () => {
  const { spec } = buildkitPod(request, settings, true)
  const [build] = spec.containers
  const init = spec.initContainers

  test('gives the credential to the client alone, and the tenant’s code neither it nor the source', () => {
    const mounts = [...init, ...spec.containers].map(container => [
      container.name,
      (container['volumeMounts'] as readonly { readonly name: string }[]).map(({ name }) => name),
    ])
    expect(mounts).toEqual([
      ['source', ['workspace', 'source-temporary']],
      ['buildkitd', ['state', 'socket']],
      ['build', ['workspace', 'socket', 'build-temporary', 'credential']],
    ])
    expect(JSON.stringify(init)).not.toContain('/run/secrets')
    expect(spec).toMatchObject({ automountServiceAccountToken: false, activeDeadlineSeconds: 600, restartPolicy: 'Never' })
  })

  test('gives the secrets of the build to the client alone, as files, and no value is in the pod', () => {
    const { metadata, spec: asked } = buildkitPod({ ...request, secrets: ['npm', 'maven'] }, settings, true)
    const containers = [...asked.initContainers, ...asked.containers]
    const having = containers.filter(container => JSON.stringify(container['volumeMounts']).includes('"secrets"'))
    expect(having.map(({ name }) => name)).toEqual(['build'])
    expect(having[0]?.['volumeMounts']).toContainEqual({ name: 'secrets', mountPath: '/run/secrets/build', readOnly: true })
    expect(asked.volumes).toContainEqual({
      name: 'secrets',
      secret: { secretName: 'build-secrets-shop-0123456789', defaultMode: 0o444 },
    })
    // The program of the container finds their names in the folder.
    expect(asked.containers[0]?.['args']).toEqual(build?.['args'])
    expect(metadata.annotations['builds.sekisho.dev/secrets']).toBe('npm,maven')
    expect(JSON.stringify(spec)).not.toContain('build-secrets')
  })

  test('passes each option as one argument, and none that changes the builder itself', () => {
    expect(build?.['args']).toEqual([
      '--opt=filename=docker/Dockerfile',
      '--opt=target=runtime',
      '--opt=build-arg:MODE=a,b=c --opt=target=other',
      '--opt=build-arg:BASE=debian',
      '--output=type=image,name=10.88.0.1:5001/apps/acme/shop:shop-0123456789,push=true',
      '--import-cache=type=registry,ref=10.88.0.1:5001/apps/acme/shop:cache-dockerfile-uid-1',
      '--export-cache=type=registry,mode=max,ignore-error=true,ref=10.88.0.1:5001/apps/acme/shop:cache-dockerfile-uid-1',
    ])
  })

  test('gives values and folders to the build as they were written', () => {
    fc.assert(
      fc.property(awkwardText, value => {
        const asked = {
          ...request,
          source: { ...request.source, subPath: value },
          env: [{ name: 'MODE', value }],
          dockerfile: { path: `${value}/Dockerfile`, args: [{ name: 'BASE', value }] },
        }
        const [client] = buildkitPod(asked, settings, true).spec.containers
        const { env, args } = seenIn(client ?? {})
        expect(env['SUB_PATH']).toBe(value)
        expect(args.slice(0, 3)).toEqual([
          `--opt=filename=${value}/Dockerfile`,
          `--opt=build-arg:MODE=${value}`,
          `--opt=build-arg:BASE=${value}`,
        ])
      }),
    )
  })

  test('pushes the image and the cache that its options name', () => {
    const { image, cache } = pushesOf(pod({}))
    expect(build?.['args']).toContain(`--output=type=image,name=${image},push=true`)
    expect(build?.['args']).toContain(`--import-cache=type=registry,ref=${cache}`)
  })

  test('has limits on memory and disk in every container', () => {
    const limits = [...init, ...spec.containers].map(container => container['resources'] as { readonly limits: object })
    for (const { limits: found } of limits) expect(Object.keys(found).sort()).toEqual(['ephemeral-storage', 'memory'])
    expect(limits[1]?.limits).toEqual({ memory: '3Gi', 'ephemeral-storage': '10Gi' })
  })
})

describe('its state', () => {
  test('needs the source until it is fetched', () => {
    const fetching = pod({ phase: 'Pending' }, { source: { running: {} } })
    expect(readPodState(fetching, {}, now)).toEqual({
      kind: 'running',
      step: 'source',
      needsSource: true,
      unscheduled: false,
      startedAt: '2026-01-01T00:00:01Z',
      deadline: new Date('2026-01-01T00:12:00Z'),
    })
    const building = pod({ phase: 'Running' }, { ...fetched, build: { running: {} } })
    expect(readPodState(building, {}, now)).toMatchObject({ step: 'build', needsSource: false })
    const conditions = [{ type: 'PodScheduled', status: 'False', message: '0/1 nodes are available: 1 Insufficient cpu.' }]
    const waiting = pod({ phase: 'Pending', conditions }, {})
    expect(readPodState(waiting, {}, now)).toMatchObject({ unscheduled: true })
    expect(buildProgress(waiting)).not.toEqual(buildProgress(pod({ phase: 'Pending' }, {})))
    expect(hasEnded(building)).toBe(false)
  })

  test('is an image by the digest that the client reported', () => {
    const ended = pod({ phase: 'Succeeded' }, { ...fetched, build: { terminated: { exitCode: 0, message: `${digest}\n` } } })
    expect(builtImage(ended)).toBe(`10.88.0.1:5001/apps/acme/shop@${digest}`)
    const proof = { kind: 'proven', commit } as const
    expect(readPodState(ended, { proof }, now)).toMatchObject({ kind: 'succeeded', proof })
  })

  test.each(['', 'latest', `${digest} and more`])('is a failure when the client reports %j as digest', message => {
    const ended = pod({ phase: 'Succeeded' }, { ...fetched, build: { terminated: { exitCode: 0, message } } })
    expect(readPodState(ended, {}, now)).toMatchObject({ kind: 'failed', sourceUnread: false })
  })

  test('says which step failed, and that the source was not read', () => {
    const unread = pod({ phase: 'Failed' }, { source: { terminated: { exitCode: 128 } } })
    expect(readPodState(unread, { log: 'fatal: repository not found' }, now)).toMatchObject({
      kind: 'failed',
      step: 'source',
      detail: 'fatal: repository not found',
      sourceUnread: true,
    })
  })

  const failed = pod({ phase: 'Failed' }, { ...fetched, build: { terminated: { exitCode: 1 } } })
  test.each([
    [
      'error: failed to solve: failed to push 10.88.0.1:5001/apps/acme/shop:x: dial tcp 10.88.0.1:5001: connect: connection refused',
      { registryUnreachable: true, registryRefused: false },
    ],
    [
      'error: failed to solve: failed to push 10.88.0.1:5001/apps/acme/shop:x: server message: insufficient_scope: authorization failed',
      { registryUnreachable: false, registryRefused: true },
    ],
    [
      'error: failed to solve: process "/bin/sh -c echo failed to push: connection refused; exit 1" did not complete successfully: exit code: 1',
      { registryUnreachable: false, registryRefused: false },
    ],
  ])('tells the registry from code that talks about it: %s', (log, expected) => {
    expect(readPodState(failed, { log: `#1 DONE 0.1s\n${log}` }, now)).toMatchObject(expected)
  })

  test('is timed out at its deadline, and when it has not ended long after it', () => {
    expect(readPodState(pod({ phase: 'Failed', reason: 'DeadlineExceeded' }, fetched), {}, now)).toMatchObject({
      kind: 'timed-out',
      detail: 'it was in step build after 600 s',
    })
    expect(readPodState(pod({ phase: 'Running' }, fetched), {}, new Date('2026-01-01T00:12:00Z'))).toMatchObject({
      kind: 'timed-out',
    })
  })

  test('names what evicted it', () => {
    const message = 'Usage of EmptyDir volume "state" exceeds the limit "10Gi". '
    expect(readPodState(pod({ phase: 'Failed', reason: 'Evicted', message }, fetched), { log: '' }, now)).toMatchObject({
      kind: 'failed',
      detail: message.trim(),
    })
  })
})

describe('the commit of an image', () => {
  const labelled = (value: string) => commitOfRevision({ kind: 'labels', labels: { 'org.opencontainers.image.revision': value } })

  test('is the one of its label', () => {
    expect(labelled(commit)).toEqual({ kind: 'proven', commit })
  })

  test.each(['', 'main', `${commit}\n`, commit.slice(1)])('is not proven by %j', value => {
    expect(labelled(value)).toMatchObject({ kind: 'absent' })
  })

  test('is not proven without a label, and unknown while the registry is away', () => {
    expect(commitOfRevision({ kind: 'labels', labels: {} })).toMatchObject({ kind: 'absent' })
    const away = { kind: 'unreadable', message: 'no answer', permanent: false } as const
    expect(commitOfRevision(away)).toEqual({ kind: 'unreadable', message: 'no answer' })
  })
})
