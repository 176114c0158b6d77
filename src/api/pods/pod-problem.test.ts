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

const now = new Date('2026-01-01T01:00:00Z')
const problemIn = (pods: readonly Pod[]): PodProblem | undefined => troubledPod(pods, now)?.problem

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
      'spec.restartedAt: new pods run as a user of the tenant; or set USER in the Dockerfile to a number other than 0',
    ],
    [
      'a user by name',
      {
        state: {
          waiting: {
            reason: 'CreateContainerConfigError',
            message:
              'container has runAsNonRoot and image has non-numeric user (app), cannot verify user is non-root (pod: "shop-web-1_acme(1)", container: web)',
          },
        },
      },
      'ImageRunsAsRoot',
      'USER of the image is a name (app), and Kubernetes needs its number to see that it is not root: write the number in the Dockerfile, such as USER 1000',
    ],
    [
      'a file system that is read-only',
      {
        state: {
          terminated: {
            exitCode: 1,
            reason: 'Error',
            message:
              "node:fs:1349\n\nError: EROFS: read-only file system, mkdir '.next/cache'\n    at mkdirSync (node:fs:1349:26)\n\nNode.js v24.21.0",
          },
        },
      },
      'Crashing',
      '(Error: EROFS: read-only file system, mkdir \'.next/cache\'): the file system of the image is read-only: write below /tmp, or set writable-root-filesystem: "true" in spec.attributes',
    ],
    [
      'a folder with those above it, of which Node.js says something else',
      {
        state: {
          terminated: {
            exitCode: 1,
            reason: 'Error',
            message: "Error: ENOENT: no such file or directory, mkdir '.next/cache'\n    at mkdirSync (node:fs:1349:26)",
          },
        },
      },
      'Crashing',
      'the file system of the image is read-only: write below /tmp',
    ],
    [
      'the same in the words of another runtime',
      { state: { terminated: { exitCode: 1, reason: 'Error', message: "OSError: [Errno 30] Read-only file system: 'cache'" } } },
      'Crashing',
      'writable-root-filesystem',
    ],
    [
      'a package that is only for development',
      {
        state: {
          terminated: { exitCode: 1, reason: 'Error', message: "Error: Cannot find module '@acme/ui/button'\nRequire stack:" },
        },
      },
      'Crashing',
      'the image has no package @acme/ui: list it in dependencies',
    ],
    [
      'a Python module that is not installed',
      { state: { terminated: { exitCode: 1, reason: 'Error', message: "ModuleNotFoundError: No module named 'gunicorn'" } } },
      'Crashing',
      'no Python module gunicorn: list its package in the requirements',
    ],
    [
      'a file of another user',
      {
        state: {
          terminated: { exitCode: 1, reason: 'Error', message: "Error: EACCES: permission denied, open '/app/data.json'" },
        },
      },
      'Crashing',
      'under a user id of the tenant, not as the USER of the image',
    ],
    [
      'a table of another user, which is no file',
      { state: { terminated: { exitCode: 1, reason: 'Error', message: 'error: permission denied for table users' } } },
      'Crashing',
      '(error: permission denied for table users): see kubectl logs',
    ],
    [
      'a port that takes rights',
      { state: { terminated: { exitCode: 1, reason: 'Error', message: 'Error: listen EACCES: permission denied 0.0.0.0:80' } } },
      'Crashing',
      'listen on the port in the variable PORT',
    ],
    [
      'a program that a shell does not find',
      {
        state: {
          terminated: {
            exitCode: 127,
            reason: 'Error',
            message: '> app@1.0.0 start\n> nodemon server.js\n\nsh: 1: nodemon: not found',
          },
        },
      },
      'CommandNotFound',
      'the image has no program nodemon: programs of devDependencies are removed after a build by buildpacks: move its package to dependencies',
    ],
    [
      'a program that the launcher does not find',
      {
        state: {
          terminated: {
            exitCode: 82,
            reason: 'Error',
            message: 'ERROR: failed to launch: path lookup: exec: "semver": executable file not found in $PATH',
          },
        },
      },
      'CommandNotFound',
      'the image has no program semver: programs of devDependencies',
    ],
    [
      'a program that a program does not find, which is not that of the process',
      {
        state: {
          terminated: { exitCode: 1, reason: 'Error', message: 'Error: exec: "ffmpeg": executable file not found in $PATH' },
        },
      },
      'Crashing',
      'exits with code 1 after 0 restarts (Error: exec: "ffmpeg": executable file not found in $PATH): see kubectl logs',
    ],
    [
      'a process that ends, as a schedule would',
      { restartCount: 4, state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState: { terminated: { exitCode: 0 } } },
      'Crashing',
      'process web exits with code 0 after 4 restarts: a process must go on running: list what ends by itself in spec.cron',
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

  test('a process without a check that started anew is not healthy before it has run longer than the last time', () => {
    const [startedAt, finishedAt] = ['2026-01-01T00:59:40Z', '2026-01-01T00:59:42Z']
    const again = (since: string, last: object = {}, spec: object = {}): Pod => ({
      ...pod({
        ready: true,
        restartCount: 3,
        state: { running: { startedAt: since } },
        lastState: { terminated: { exitCode: 0, startedAt, finishedAt, ...last } },
      }),
      spec: { containers: [{ name: 'web', ...spec }] },
    })
    expect(problemIn([again('2026-01-01T00:59:56Z')])?.message).toContain('spec.cron')
    expect(problemIn([again('2026-01-01T00:59:52Z')])).toBeUndefined()
    // One that ended once after days is doubted for a minute at most.
    const days = { startedAt: '2025-12-01T00:00:00Z' }
    expect(problemIn([again('2026-01-01T00:59:10Z', days)])?.reason).toBe('Crashing')
    expect(problemIn([again('2026-01-01T00:58:50Z', days)])).toBeUndefined()
    // A check of its own knows better, and what never ended is not doubted.
    expect(problemIn([again('2026-01-01T00:59:56Z', {}, { readinessProbe: {} })])).toBeUndefined()
    expect(problemIn([pod({ ready: true, state: { running: { startedAt: '2026-01-01T00:59:59Z' } } })])).toBeUndefined()
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
