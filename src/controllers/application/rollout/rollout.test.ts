// Rollouts, from states of Deployments and pods as a real cluster reports them.
import { describe, expect, test } from 'vitest'
import type { Deployment, Pod } from '../../../api/builtin/index.ts'
import { podProblem } from './pod-problem.ts'
import { evaluateRollout } from './rollout.ts'
import { withDelay } from './rollout-times.ts'
import { withUnanswered } from './unanswered.ts'

function deployment(status: Deployment['status'], replicas = 1): Deployment {
  const template = { spec: { containers: [] } }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'shop-web', generation: 2 },
    spec: { replicas, selector: {}, template },
    ...(status ? { status } : {}),
  }
}

const rolledOut = { observedGeneration: 2, replicas: 1, updatedReplicas: 1, availableReplicas: 1 }

type Statuses = NonNullable<NonNullable<Pod['status']>['containerStatuses']>

function pod(changes: Partial<Statuses[number]>, metadata: Partial<Pod['metadata']> = {}): Pod {
  const container = { name: 'web', image: 'i:1', imageID: '', ready: false, restartCount: 0, ...changes }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'acme', creationTimestamp: '2026-01-01T00:00:00Z', ...metadata },
    status: { containerStatuses: [container] },
  }
}

describe('rollout', () => {
  test('is complete when all replicas are of this generation and nothing else runs', () => {
    expect(evaluateRollout([deployment(rolledOut)], [])).toMatchObject({ complete: true, available: true })
    expect(evaluateRollout([], [])).toMatchObject({ complete: true, available: true })
    expect(evaluateRollout([deployment({ observedGeneration: 2 }, 0)], [])).toMatchObject({ complete: true, available: true })
  })

  test.each<[string, Deployment | undefined, boolean]>([
    ['a status of an older generation', deployment({ ...rolledOut, observedGeneration: 1 }), true],
    ['an old replica beside the new one', deployment({ ...rolledOut, replicas: 2 }), true],
    ['no new replica yet', deployment({ ...rolledOut, updatedReplicas: 0 }), true],
    ['nothing that answers', deployment({ ...rolledOut, availableReplicas: 0 }), false],
    ['no status', deployment(undefined), false],
    ['a Deployment that was not observed yet', undefined, false],
  ])('%s is not complete', (_what, item, available) => {
    expect(evaluateRollout([item], [])).toMatchObject({ complete: false, available })
  })

  test.each<[string, Deployment | undefined, boolean]>([
    ['with a status of this generation', deployment({ observedGeneration: 2 }), true],
    ['with a status of an older generation', deployment({ ...rolledOut, observedGeneration: 1 }), false],
    ['without a status', deployment(undefined), false],
    ['that the cache does not have yet', undefined, false],
  ])('a Deployment %s: observed or not', (_what, item, isObserved) => {
    expect(evaluateRollout([deployment(rolledOut), item], []).observed).toBe(isObserved)
  })

  test('of a release that Kubernetes has not begun with says so, unless a pod says more', () => {
    const rollout = evaluateRollout([deployment(undefined)], [])
    const record = { release: 2, startedAt: '2026-01-01T00:00:00Z', delayed: true }
    expect(withDelay(rollout, record).problem).toMatchObject({
      reason: 'RollingOut',
      message: expect.stringContaining('kube-controller-manager'),
    })
    expect(withDelay(rollout, { ...record, delayed: false }).problem).toBeUndefined()
    expect(withDelay({ ...rollout, observed: true }, record).problem).toBeUndefined()
    const problem = { reason: 'ImagePullFailed', message: 'no such image' } as const
    expect(withDelay({ ...rollout, problem }, record).problem).toBe(problem)
  })

  test('the problem comes from the Deployment when no pod has one', () => {
    const stalled = { type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }
    const forbidden = { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'exceeded quota' }
    const problemOf = (conditions: NonNullable<Deployment['status']>['conditions'], pods: readonly Pod[] = []) =>
      evaluateRollout(
        [deployment({ observedGeneration: 2, updatedReplicas: 1, replicas: 1, ...(conditions ? { conditions } : {}) })],
        pods,
      ).problem
    expect(problemOf([stalled])).toMatchObject({ reason: 'RolloutStalled' })
    expect(problemOf([forbidden])).toMatchObject({ reason: 'QuotaExceeded', message: expect.stringContaining('request less') })
    expect(problemOf([{ ...forbidden, message: 'not allowed' }])).toMatchObject({ reason: 'RolloutStalled' })
    expect(problemOf([stalled], [pod({ restartCount: 1, lastState: { terminated: { exitCode: 3 } } })])?.message).toContain(
      'code 3',
    )
    expect(problemOf([])).toBeUndefined()
  })
})

describe('the problem of a pod', () => {
  test.each<[string, Partial<Statuses[number]>, string, string]>([
    [
      'a bad image',
      { state: { waiting: { reason: 'ErrImagePull', message: 'not found' } } },
      'ImagePullFailed',
      'i:1 cannot be pulled (not found)',
    ],
    [
      'a crash',
      { restartCount: 2, state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState: { terminated: { exitCode: 9 } } },
      'Crashing',
      'code 9',
    ],
    ['a first exit', { state: { terminated: { exitCode: 0 } } }, 'Crashing', 'code 0'],
    ['too little memory', { state: { terminated: { exitCode: 137, reason: 'OOMKilled' } } }, 'Crashing', 'raise its memory'],
    [
      'root',
      { state: { waiting: { reason: 'CreateContainerConfigError', message: 'will run as root' } } },
      'ImageRunsAsRoot',
      'spec.restartedAt',
    ],
    [
      'a program that the image does not have',
      {
        restartCount: 1,
        state: { waiting: { reason: 'CrashLoopBackOff' } },
        lastState: {
          terminated: {
            exitCode: 128,
            reason: 'StartError',
            message:
              'failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error during container init: exec: "node": executable file not found in $PATH: unknown',
          },
        },
      },
      'CommandNotFound',
      'the image has no program node',
    ],
    [
      'an image without a shell',
      {
        state: {
          terminated: {
            exitCode: 128,
            reason: 'StartError',
            message: 'exec: "/bin/sh": stat /bin/sh: no such file or directory',
          },
        },
      },
      'CommandNotFound',
      'the image has no shell (/bin/sh)',
    ],
    [
      'a program that is not executable',
      { state: { terminated: { exitCode: 126, reason: 'StartError', message: 'exec: "/run.sh": permission denied' } } },
      'CommandNotFound',
      'make it executable in the build',
    ],
    [
      'a ConfigMap that does not exist',
      { state: { waiting: { reason: 'CreateContainerConfigError', message: 'configmap "settings" not found' } } },
      'EnvironmentIncomplete',
      'there is no ConfigMap settings',
    ],
    [
      'an AppSecret that does not exist',
      { state: { waiting: { reason: 'CreateContainerConfigError', message: 'secret "appsecret-shop" not found' } } },
      'EnvironmentIncomplete',
      'there is no AppSecret shop',
    ],
    [
      'a key that does not exist',
      {
        state: {
          waiting: { reason: 'CreateContainerConfigError', message: "couldn't find key URL in Secret acme/appsecret-shop" },
        },
      },
      'EnvironmentIncomplete',
      'AppSecret shop has no key URL',
    ],
  ])('%s is named with the cure', (_what, changes, reason, words) => {
    const problem = podProblem([pod(changes)])
    expect(problem?.reason).toBe(reason)
    expect(problem?.message).toContain(words)
  })

  test('a program that the launcher of buildpacks does not find is named; the same exit of another program is a crash', () => {
    const exited = (command: readonly string[]): Pod => ({
      ...pod({ name: 'worker', state: { terminated: { exitCode: 82 } } }),
      spec: { containers: [{ name: 'worker', command }] },
    })
    expect(podProblem([exited(['/cnb/lifecycle/launcher', '--', 'nod', 'worker.js'])])).toMatchObject({
      reason: 'CommandNotFound',
      message: expect.stringContaining('the image has no program nod'),
    })
    expect(podProblem([exited(['nod', 'worker.js'])])?.reason).toBe('Crashing')
  })

  test('a pod that waits for a volume is not told that nodes are full', () => {
    const waiting = (message: string): Pod => ({
      ...pod({ state: { waiting: { reason: '' } } }, { labels: { 'sekisho.dev/application': 'shop' } }),
      status: { conditions: [{ type: 'PodScheduled', status: 'False', message }] },
    })
    expect(podProblem([waiting('0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims.')])).toEqual({
      reason: 'VolumePending',
      message:
        'a pod waits for a volume (0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims.): see kubectl describe pvc -n acme -l sekisho.dev/application=shop, and size and storageClass in spec.volumes',
    })
    expect(podProblem([waiting('0/1 nodes are available: 1 Insufficient cpu.')])?.reason).toBe('RolloutStalled')
  })

  test('a pod that is starting, a ready one, and one that is being deleted have none', () => {
    expect(podProblem([pod({ state: { waiting: { reason: 'ContainerCreating' } } })])).toBeUndefined()
    expect(podProblem([pod({ ready: true, restartCount: 3, lastState: { terminated: { exitCode: 1 } } })])).toBeUndefined()
    expect(
      podProblem([pod({ state: { terminated: { exitCode: 1 } } }, { deletionTimestamp: '2026-01-01T00:00:00Z' })]),
    ).toBeUndefined()
  })

  test('a failed pull has one message while the kubelet retries and while it backs off', () => {
    const cause = 'rpc error: code = NotFound desc = failed to resolve reference "i:1": i:1: not found'
    const message = `Back-off pulling image "i:1": ErrImagePull: ${cause}`
    const tries = podProblem([pod({ state: { waiting: { reason: 'ErrImagePull', message: cause } } })])
    const waits = podProblem([pod({ state: { waiting: { reason: 'ImagePullBackOff', message } } })])
    expect(tries?.message).toContain('image i:1 cannot be pulled (failed to resolve reference the image: the image: not found)')
    expect(waits).toEqual(tries)
  })

  test.each([
    ['unexpected status from HEAD request to https://ghcr.io/v2/acme/shop/manifests/1: 401 Unauthorized', true],
    ['failed to authorize: failed to fetch anonymous token: unexpected status: 403 Forbidden', true],
    ['pull access denied, repository does not exist or may require authorization', true],
    ['dial tcp: lookup ghcr.io: no such host', false],
    ['i:1: not found', false],
  ])('a failed pull with “%s” is about a credential: %s', (message, isPrivate) => {
    const problem = podProblem([pod({ state: { waiting: { reason: 'ErrImagePull', message } } })])
    expect(problem?.message.includes('spec.imagePullSecrets')).toBe(isPrivate)
  })

  test('the newest pod decides', () => {
    const old = pod({ state: { terminated: { exitCode: 1 } } })
    const young = pod({ state: { terminated: { exitCode: 2 } } }, { creationTimestamp: '2026-01-02T00:00:00Z' })
    expect(podProblem([old, young])?.message).toContain('code 2')
  })

  test('messages of a registry or a kubelet are bounded and contain no token', () => {
    const message = `${'x'.repeat(1000)} ghs_0123456789abcdefghijABCDEFGHIJ012345`
    const problem = podProblem([pod({ state: { waiting: { reason: 'ErrImagePull', message } } })])
    expect(problem?.message.length).toBeLessThan(500)
    expect(problem?.message).not.toContain('ghs_')
  })
})

describe('a process that runs and is not ready', () => {
  const started = new Date('2026-01-01T00:00:00Z')
  const later = (seconds: number): Date => new Date(started.getTime() + seconds * 1000)
  const running = pod({ state: { running: { startedAt: started.toISOString() } } })
  const rollout = { available: false, complete: false, observed: true, progress: '' }
  const found = (process: object, seconds: number, pods: readonly Pod[] = [running]) =>
    withUnanswered(
      rollout,
      { pods, processes: [{ name: 'web', replicas: 1, cpu: '1m', memory: '1Mi', ...process }] },
      later(seconds),
    )

  test('is looked at again after twenty seconds, and named then', () => {
    expect(found({ port: 3000 }, 5)).toEqual({ rollout, requeueAfterMilliseconds: 15_000 })
    expect(found({ port: 3000 }, 20).rollout.problem).toMatchObject({
      reason: 'NotAnswering',
      message: expect.stringContaining('nothing listens on port 3000'),
    })
  })

  test.each([
    [{ port: 80, healthPath: '/up' }, 'does not answer GET /up on port 80'],
    [{ port: 80, probes: { readiness: { path: '/ready' } } }, 'does not answer GET /ready on port 80'],
    [{ probes: { readiness: { command: ['check'] } } }, 'the command of probes.readiness fails'],
  ])('is named by its check: %j', (process, words) => {
    expect(found(process, 30).rollout.problem?.message).toContain(words)
  })

  test('is not named when the rollout is complete, when it is ready, when it crashed, and when it is going away', () => {
    expect(
      withUnanswered({ ...rollout, complete: true }, { pods: [running], processes: [] }, later(60)).rollout.problem,
    ).toBeUndefined()
    const others = [
      pod({ ready: true, state: { running: { startedAt: started.toISOString() } } }),
      pod({ state: { running: { startedAt: started.toISOString() } }, lastState: { terminated: { exitCode: 1 } } }),
      { ...running, metadata: { ...running.metadata, deletionTimestamp: started.toISOString() } },
    ]
    for (const other of others) expect(found({ port: 3000 }, 60, [other])).toEqual({ rollout })
  })
})
