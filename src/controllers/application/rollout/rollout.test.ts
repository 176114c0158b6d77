// Rollouts, from states of Deployments and pods as a real cluster reports them.
import { describe, expect, test } from 'vitest'
import type { Deployment, Pod } from '../../../api/builtin/index.ts'
import { podProblem } from './pod-problem.ts'
import { evaluateRollout } from './rollout.ts'

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

  test('the problem comes from the Deployment when no pod has one', () => {
    const stalled = { type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }
    const forbidden = { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'exceeded quota' }
    const problemOf = (conditions: NonNullable<Deployment['status']>['conditions'], pods: readonly Pod[] = []) =>
      evaluateRollout(
        [deployment({ observedGeneration: 2, updatedReplicas: 1, replicas: 1, ...(conditions ? { conditions } : {}) })],
        pods,
      ).problem
    expect(problemOf([stalled])).toMatchObject({ reason: 'RolloutStalled' })
    expect(problemOf([forbidden])?.message).toContain('exceeded quota')
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
      'RolloutStalled',
      'will run as root',
    ],
  ])('%s is named with the cure', (_what, changes, reason, words) => {
    const problem = podProblem([pod(changes)])
    expect(problem?.reason).toBe(reason)
    expect(problem?.message).toContain(words)
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
    expect(tries?.message).toContain('image i:1 cannot be pulled (failed to resolve reference it: it: not found)')
    expect(waits).toEqual(tries)
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
