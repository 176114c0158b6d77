// Rollouts, from states of Deployments and pods as a real cluster reports them.
import { describe, expect, test } from 'vitest'
import type { Deployment, Pod } from '../../../api/builtin/index.ts'
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
