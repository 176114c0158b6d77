// Rollouts, from states of Deployments and pods as a real cluster reports them.
import { describe, expect, test } from 'vitest'
import type { Deployment, Pod } from '../../../api/builtin/index.ts'
import { labels } from '../../../api/names.ts'
import type { Refusal } from '../../../policy/check.ts'
import type { ChartProcess } from '../../../services/charts/chart-input.ts'
import { evaluateRollout as evaluate, untilJudged } from './rollout.ts'
import { withDelay } from './rollout-times.ts'
import { mostSpecific } from './specificity.ts'
import { type FailedChecks, unansweredProblem, unreadyIn, untilAsked } from './unanswered.ts'

const now = new Date('2026-01-01T01:00:00Z')
const evaluateRollout = (deployments: readonly (Deployment | undefined)[], pods: readonly Pod[], unanswered?: Refusal) =>
  evaluate({ deployments, pods, unanswered }, now)

function deployment(status: Deployment['status'], replicas = 1): Deployment {
  const template = { spec: { containers: [] } }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'shop-web', generation: 2, labels: { [labels.process]: 'web' } },
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

describe('of several problems the one with the cure is said', () => {
  const stalled = { type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }
  const late = deployment({ observedGeneration: 2, updatedReplicas: 1, replicas: 1, conditions: [stalled] })
  const unanswered = { reason: 'NotAnswering', message: 'nothing listens on port 3000' }

  test('a check that fails stays when the deadline passes', () => {
    expect(evaluateRollout([late], [], unanswered).problem).toEqual(unanswered)
    expect(evaluateRollout([late], []).problem).toMatchObject({
      reason: 'RolloutStalled',
      message: expect.stringContaining('see the log of process web'),
    })
  })

  test('a pod says more than a check, and that none is made says more, too', () => {
    const crash = pod({ restartCount: 1, lastState: { terminated: { exitCode: 3 } } })
    expect(evaluateRollout([late], [crash], unanswered).problem?.reason).toBe('Crashing')
    const forbidden = { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'exceeded quota' }
    const refused = deployment({ observedGeneration: 2, conditions: [stalled, forbidden] })
    expect(evaluateRollout([refused], [], unanswered).problem?.reason).toBe('QuotaExceeded')
  })

  test('each place has one rank, whatever else is known', () => {
    const places = ['pod', 'refused', 'unanswered', 'deadline'] as const
    const problem = (message: string) => ({ reason: 'R', message })
    for (const [index, place] of places.entries()) {
      const known = Object.fromEntries(places.slice(index).map(name => [name, problem(name)]))
      expect(mostSpecific(known)).toEqual(problem(place))
    }
    expect(mostSpecific({})).toBeUndefined()
  })
})

describe('a process without a check that ends again and again', () => {
  const last = { exitCode: 0, startedAt: '2026-01-01T00:59:30Z', finishedAt: '2026-01-01T00:59:32Z' }
  const again = (startedAt: string): Pod => {
    const running = pod(
      { ready: true, restartCount: 4, state: { running: { startedAt } }, lastState: { terminated: last } },
      { labels: { [labels.process]: 'web' } },
    )
    return { ...running, spec: { containers: [{ name: 'web' }] } }
  }

  test('does not look healthy for two seconds between two waits of the kubelet, and is judged again in time', () => {
    const pods = [again('2026-01-01T00:59:58Z')]
    expect(evaluateRollout([deployment(rolledOut)], pods)).toMatchObject({
      available: false,
      complete: false,
      problem: { reason: 'Crashing', message: expect.stringContaining('spec.cron') },
    })
    expect(untilJudged(pods, now)).toBe(5000)
  })

  test('is healthy when it has run longer than the last time, or when others of its pods run', () => {
    const pods = [again('2026-01-01T00:59:50Z')]
    expect(evaluateRollout([deployment(rolledOut)], pods)).toMatchObject({ available: true, complete: true })
    expect(untilJudged(pods, now)).toBeUndefined()
    const two = deployment({ observedGeneration: 2, replicas: 2, updatedReplicas: 2, availableReplicas: 2 }, 2)
    expect(evaluateRollout([two], [again('2026-01-01T00:59:58Z')])).toMatchObject({ available: true, complete: false })
  })
})

describe('a process that runs and is not ready', () => {
  const started = new Date('2026-01-01T00:00:00Z')
  const later = (seconds: number): Date => new Date(started.getTime() + seconds * 1000)
  const running = pod({ state: { running: { startedAt: started.toISOString() } } }, { uid: 'u1' })
  const process = { name: 'web', replicas: 1, cpu: '1m', memory: '1Mi', port: 3000 }
  const unready = (seconds: number, pods: readonly Pod[] = [running], asked: ChartProcess = process) =>
    unreadyIn(pods, [asked], later(seconds))
  const progressing = (reason = 'ReplicaSetUpdated'): Deployment => {
    const conditions = [{ type: 'Progressing', status: reason === 'ProgressDeadlineExceeded' ? 'False' : 'True', reason }]
    const item = deployment({ observedGeneration: 2, updatedReplicas: 1, replicas: 1, conditions })
    return { ...item, spec: { selector: {}, template: {}, ...item.spec, progressDeadlineSeconds: 120 } }
  }
  type More = { readonly deployment?: Deployment; readonly pods?: readonly Pod[]; readonly asked?: ChartProcess }
  const told = (
    seconds: number,
    { deployment: item = progressing(), pods, asked }: More = {},
    failed: FailedChecks = new Map(),
  ) => unansweredProblem(unready(seconds, pods, asked), { failed, otherPorts: [], deployments: [item], now: later(seconds) })
  const next = (seconds: number, item = progressing()) =>
    untilAsked(unready(seconds), { deployments: [item], now: later(seconds) })
  const withReady = (status: string, seconds: number): Pod => ({
    ...running,
    status: { ...running.status, conditions: [{ type: 'Ready', status, lastTransitionTime: later(seconds).toISOString() }] },
  })

  test('may be slow to start after twenty seconds, with the cure, and has failed when its Deployment waits no longer', () => {
    expect([told(5), next(5)]).toEqual([undefined, 15_000])
    expect(told(20)).toEqual({
      reason: 'NotAnsweringYet',
      message: expect.stringMatching(/nothing listens on port 3000: listen on 0\.0\.0\.0.*failure 120 seconds after its start/),
    })
    expect(next(20)).toBe(100_000)
    expect([told(120)?.reason, next(120)]).toEqual(['NotAnswering', undefined])
    expect(told(120)?.message).not.toContain('slow')
    const late = progressing('ProgressDeadlineExceeded')
    expect([told(30, { deployment: late })?.reason, next(30, late)]).toEqual(['NotAnswering', undefined])
  })

  test('has the time that Kubernetes gives when its Deployment names none', () => {
    const without = deployment({ observedGeneration: 2, updatedReplicas: 1, replicas: 1 })
    expect([told(599, { deployment: without })?.reason, told(600, { deployment: without })?.reason]).toEqual([
      'NotAnsweringYet',
      'NotAnswering',
    ])
  })

  test('has failed when it has answered before', () => {
    expect(told(30, { pods: [withReady('False', 10)] })?.reason).toBe('NotAnswering')
    // Not ready from before it started.
    expect(told(30, { pods: [withReady('False', -1)] })?.reason).toBe('NotAnsweringYet')
    expect(told(30, { pods: [withReady('False', 0)] })?.reason).toBe('NotAnsweringYet')
  })

  test('of several, one that answered before is spoken of', () => {
    const other = { ...withReady('False', 10), metadata: { ...running.metadata, name: 'q', uid: 'u2' } }
    expect(unready(30, [running, other]).map(({ hasAnswered }) => hasAnswered)).toEqual([true, false])
    expect(told(30, { pods: [running, other] })?.reason).toBe('NotAnswering')
  })

  test('says what the kubelet got, and which ports the image has', () => {
    const failed = new Map([['u1', { probe: 'readiness', said: 'HTTP probe failed with statuscode: 404' }]] as const)
    expect(told(30, { asked: { ...process, healthPath: '/up' } }, failed)?.message).toContain('with the status 404')
    const options = { failed: new Map(), otherPorts: [9090], deployments: [], now: later(30) }
    expect(unansweredProblem(unready(30), options)?.message).toContain('also 9090')
  })

  test('is not named when it is ready, when it crashed, and when it is going away', () => {
    const others = [
      pod({ ready: true, state: { running: { startedAt: started.toISOString() } } }),
      pod({ state: { running: { startedAt: started.toISOString() } }, lastState: { terminated: { exitCode: 1 } } }),
      { ...running, metadata: { ...running.metadata, deletionTimestamp: started.toISOString() } },
    ]
    for (const other of others) expect(unready(60, [other])).toEqual([])
  })
})

describe('while a version is replaced, what is wrong with its pods says nothing about the new one', () => {
  const of = (template: string, createdAt: string, changes: Partial<Statuses[number]> = {}): Pod =>
    pod(changes, { creationTimestamp: createdAt, labels: { [labels.process]: 'web', 'pod-template-hash': template } })
  const crash = { restartCount: 1, lastState: { terminated: { exitCode: 3 } } }
  const old = of('a', '2026-01-01T00:00:00Z', crash)

  test('when it has pods, and while Kubernetes has made none yet', () => {
    const begun = deployment({ observedGeneration: 2, updatedReplicas: 1, replicas: 2 })
    expect(evaluateRollout([begun], [old, of('b', '2026-01-01T00:10:00Z')]).problem).toBeUndefined()
    expect(evaluateRollout([deployment({ observedGeneration: 1, updatedReplicas: 1 })], [old]).problem).toBeUndefined()
    expect(evaluateRollout([deployment({ observedGeneration: 2, replicas: 1 })], [old]).problem).toBeUndefined()
  })

  test('a crash of its own is said, and one of the version that runs', () => {
    const begun = deployment({ observedGeneration: 2, updatedReplicas: 1, replicas: 2 })
    const healthy = of('a', '2026-01-01T00:00:00Z')
    expect(evaluateRollout([begun], [healthy, of('b', '2026-01-01T00:10:00Z', crash)]).problem?.reason).toBe('Crashing')
    expect(evaluateRollout([begun], [old]).problem?.reason).toBe('Crashing')
  })
})
