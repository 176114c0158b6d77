// Judging rollouts: states of Deployments and pods as a real cluster shows them.
import { describe, expect, test } from 'vitest'
import type { Deployment, Pod } from '../../../api/builtin/index.ts'
import { podTrouble } from './pod-trouble.ts'
import { judgeRollout } from './rollout.ts'

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
    expect(judgeRollout([deployment(rolledOut)], [])).toMatchObject({ complete: true, available: true })
    expect(judgeRollout([], [])).toMatchObject({ complete: true, available: true })
    expect(judgeRollout([deployment({ observedGeneration: 2 }, 0)], [])).toMatchObject({ complete: true, available: true })
  })

  test.each<[string, Deployment | undefined, boolean]>([
    ['a status of an older generation', deployment({ ...rolledOut, observedGeneration: 1 }), true],
    ['an old replica beside the new one', deployment({ ...rolledOut, replicas: 2 }), true],
    ['no new replica yet', deployment({ ...rolledOut, updatedReplicas: 0 }), true],
    ['nothing that answers', deployment({ ...rolledOut, availableReplicas: 0 }), false],
    ['no status', deployment(undefined), false],
    ['a Deployment that was not seen yet', undefined, false],
  ])('%s is not complete', (_what, item, available) => {
    expect(judgeRollout([item], [])).toMatchObject({ complete: false, available })
  })

  test('a stop is told by the Deployment when no pod tells more', () => {
    const stalled = { type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }
    const forbidden = { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'exceeded quota' }
    const judge = (conditions: NonNullable<Deployment['status']>['conditions'], pods: readonly Pod[] = []) =>
      judgeRollout(
        [deployment({ observedGeneration: 2, updatedReplicas: 1, replicas: 1, ...(conditions ? { conditions } : {}) })],
        pods,
      ).trouble
    expect(judge([stalled])).toMatchObject({ reason: 'RolloutStalled' })
    expect(judge([forbidden])?.message).toContain('exceeded quota')
    expect(judge([stalled], [pod({ restartCount: 1, lastState: { terminated: { exitCode: 3 } } })])?.message).toContain('code 3')
    expect(judge([])).toBeUndefined()
  })
})

describe('pod trouble', () => {
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
    const trouble = podTrouble([pod(changes)])
    expect(trouble?.reason).toBe(reason)
    expect(trouble?.message).toContain(words)
  })

  test('a pod on its way, a ready one, and one that is being deleted have none', () => {
    expect(podTrouble([pod({ state: { waiting: { reason: 'ContainerCreating' } } })])).toBeUndefined()
  })

  test('a failed pull reads the same while the kubelet tries and while it waits', () => {
    const cause = 'rpc error: code = NotFound desc = failed to resolve reference "i:1": i:1: not found'
    const message = `Back-off pulling image "i:1": ErrImagePull: ${cause}`
    const tries = podTrouble([pod({ state: { waiting: { reason: 'ErrImagePull', message: cause } } })])
    const waits = podTrouble([pod({ state: { waiting: { reason: 'ImagePullBackOff', message } } })])
    expect(tries?.message).toContain('image i:1 cannot be pulled (failed to resolve reference it: it: not found)')
    expect(waits).toEqual(tries)
    expect(podTrouble([pod({ ready: true, restartCount: 3, lastState: { terminated: { exitCode: 1 } } })])).toBeUndefined()
    expect(
      podTrouble([pod({ state: { terminated: { exitCode: 1 } } }, { deletionTimestamp: '2026-01-01T00:00:00Z' })]),
    ).toBeUndefined()
  })

  test('the newest pod speaks first', () => {
    const old = pod({ state: { terminated: { exitCode: 1 } } })
    const young = pod({ state: { terminated: { exitCode: 2 } } }, { creationTimestamp: '2026-01-02T00:00:00Z' })
    expect(podTrouble([old, young])?.message).toContain('code 2')
  })

  test('words of a registry or a kubelet are bounded and hold no token', () => {
    const message = `${'x'.repeat(1000)} ghs_0123456789abcdefghijABCDEFGHIJ012345`
    const trouble = podTrouble([pod({ state: { waiting: { reason: 'ErrImagePull', message } } })])
    expect(trouble?.message.length).toBeLessThan(500)
    expect(trouble?.message).not.toContain('ghs_')
  })
})
