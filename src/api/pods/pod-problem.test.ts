// Problems of pods, as a real cluster reports their states.
import { describe, expect, test } from 'vitest'
import type { Pod } from '../builtin/index.ts'
import { troubledPod } from './pod-problem.ts'
import type { PodProblem } from './problem.ts'

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

const problemIn = (pods: readonly Pod[]): PodProblem | undefined => troubledPod(pods)?.problem

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
    const problem = problemIn([pod(changes)])
    expect(problem?.reason).toBe(reason)
    expect(problem?.message).toContain(words)
  })

  test('a program that the launcher of buildpacks does not find is named; the same exit of another program is a crash', () => {
    const exited = (command: readonly string[]): Pod => ({
      ...pod({ name: 'worker', state: { terminated: { exitCode: 82 } } }),
      spec: { containers: [{ name: 'worker', command }] },
    })
    expect(problemIn([exited(['/cnb/lifecycle/launcher', '--', 'nod', 'worker.js'])])).toMatchObject({
      reason: 'CommandNotFound',
      message: expect.stringContaining('the image has no program nod'),
    })
    expect(problemIn([exited(['nod', 'worker.js'])])?.reason).toBe('Crashing')
  })

  test('a pod that waits for a volume is not told that nodes are full', () => {
    const waiting = (message: string): Pod => ({
      ...pod({ state: { waiting: { reason: '' } } }, { labels: { 'sekisho.dev/application': 'shop' } }),
      status: { conditions: [{ type: 'PodScheduled', status: 'False', message }] },
    })
    expect(problemIn([waiting('0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims.')])).toMatchObject({
      reason: 'VolumePending',
      message:
        'a pod waits for a volume (0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims.): see kubectl describe pvc -n acme -l sekisho.dev/application=shop, and size and storageClass in spec.volumes',
    })
    expect(problemIn([waiting('0/1 nodes are available: 1 Insufficient cpu.')])?.reason).toBe('RolloutStalled')
  })

  test('a pod that is starting, a ready one, and one that is being deleted have none', () => {
    expect(problemIn([pod({ state: { waiting: { reason: 'ContainerCreating' } } })])).toBeUndefined()
    expect(problemIn([pod({ ready: true, restartCount: 3, lastState: { terminated: { exitCode: 1 } } })])).toBeUndefined()
    expect(
      problemIn([pod({ state: { terminated: { exitCode: 1 } } }, { deletionTimestamp: '2026-01-01T00:00:00Z' })]),
    ).toBeUndefined()
  })

  test('a failed pull has one message while the kubelet retries and while it backs off', () => {
    const cause = 'rpc error: code = NotFound desc = failed to resolve reference "i:1": i:1: not found'
    const message = `Back-off pulling image "i:1": ErrImagePull: ${cause}`
    const tries = problemIn([pod({ state: { waiting: { reason: 'ErrImagePull', message: cause } } })])
    const waits = problemIn([pod({ state: { waiting: { reason: 'ImagePullBackOff', message } } })])
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
    const problem = problemIn([pod({ state: { waiting: { reason: 'ErrImagePull', message } } })])
    expect(problem?.message.includes('spec.imagePullSecrets')).toBe(isPrivate)
  })

  test('the newest pod decides', () => {
    const old = pod({ state: { terminated: { exitCode: 1 } } })
    const young = pod({ state: { terminated: { exitCode: 2 } } }, { creationTimestamp: '2026-01-02T00:00:00Z' })
    expect(problemIn([old, young])?.message).toContain('code 2')
  })

  test('messages of a registry or a kubelet are bounded and contain no token', () => {
    const message = `${'x'.repeat(1000)} ghs_0123456789abcdefghijABCDEFGHIJ012345`
    const problem = problemIn([pod({ state: { waiting: { reason: 'ErrImagePull', message } } })])
    expect(problem?.message.length).toBeLessThan(500)
    expect(problem?.message).not.toContain('ghs_')
  })
})
