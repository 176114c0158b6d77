// When a rollout has failed, what happens then, and what the status says.
import { describe, expect, test } from 'vitest'
import type { Application } from '../../../api/apps/application.ts'
import type { Pod } from '../../../api/builtin/index.ts'
import type { ReleaseObservation } from './release-status.ts'
import { nextOutcome, surplusReleases } from './release-status.ts'
import { type Found, reportOf } from './report.ts'
import { application, header, now } from './testing/application.ts'

const at = (seconds: number): string => new Date(now.getTime() + seconds * 1000).toISOString()
const observed: ReleaseObservation = {
  newest: 2,
  madeAt: undefined,
  released: 1,
  runs: 2,
  isPinned: false,
  hold: undefined,
  job: undefined,
  replicas: undefined,
}
const complete = { available: true, complete: true, observed: true, progress: '2 of 2 replicas run this version' }
const unobserved = { available: true, complete: false, observed: false, progress: '0 of 2 replicas run this version' }
const incomplete = { available: true, complete: false, observed: true, progress: '0 of 2 replicas run this version' }

function crashing(createdAt: string, restartCount = 3): Pod {
  const state = { waiting: { reason: 'CrashLoopBackOff' } }
  const lastState = { terminated: { exitCode: 7 } }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'acme', creationTimestamp: createdAt },
    status: { containerStatuses: [{ name: 'web', image: 'i', imageID: '', ready: false, restartCount, state, lastState }] },
  }
}

function found(changes: Partial<Found> = {}): Found {
  return { observed, progress: { kind: 'applied' }, rollout: incomplete, pods: [], replicas: 2, ...changes }
}

/** Release 2 was applied so many seconds ago, after release 1. */
function rolling(seconds: number, spec: Partial<Application['spec']> = {}, status: Application['status'] = {}): Application {
  return application(spec, { release: 1, rollout: { release: 2, startedAt: at(-seconds), before: 1 }, ...status })
}

describe('a rollout', () => {
  test('begins with a time and the release before it, and is judged again when its time is over', () => {
    const { fields, requeueAfterMilliseconds } = reportOf(application({}, { release: 1 }), found(), now)
    expect(fields).toMatchObject({ release: 1, latestRelease: 2, rollout: { release: 2, startedAt: at(0), before: 1 } })
    expect(requeueAfterMilliseconds).toBe(300_000)
    expect(reportOf(rolling(100), found(), now).requeueAfterMilliseconds).toBe(200_000)
  })

  test('ends when all replicas run it', () => {
    const { fields, requeueAfterMilliseconds } = reportOf(rolling(10), found({ rollout: complete }), now)
    expect(fields).toMatchObject({ release: 2, phases: { release: 2, availableAt: at(0) } })
    expect(fields.rollback).toBeUndefined()
    expect(requeueAfterMilliseconds).toBeUndefined()
  })

  test('says the same when nothing changed', () => {
    const first = reportOf(rolling(10), found({ rollout: complete }), now)
    const again = reportOf({ ...rolling(10), status: { ...first.fields } }, found({ rollout: complete }), new Date(at(5)))
    expect(again.fields).toEqual(first.fields)
  })

  test.each<[string, Application, Partial<Found>, string]>([
    ['is not ready in time', rolling(301), {}, 'not ready within 300 seconds'],
    [
      'is not ready in its own time',
      rolling(61, { rollout: { timeoutSeconds: 60, whenUnhealthy: 'RollBack' } }),
      {},
      '60 seconds',
    ],
    ['crashes again and again', rolling(50), { pods: [crashing(at(-40))] }, 'exits with code 7'],
    [
      'crashes soon after it was ready for a moment',
      rolling(50, {}, { release: 2 }),
      { rollout: complete, pods: [crashing(at(-40))] },
      'exits with code 7',
    ],
    [
      'is refused by the cluster for too long',
      rolling(301),
      { progress: { kind: 'refused', whileApplying: true, reason: 'QuotaExceeded', message: 'no room' } },
      'no room',
    ],
  ])('that %s gives way to the release before', (_what, app, changes, words) => {
    const { fields, requeueAfterMilliseconds } = reportOf(app, found(changes), now)
    expect(fields).toMatchObject({ release: 1, rollback: { from: 2, to: 1, reason: expect.stringContaining(words), at: at(0) } })
    expect(requeueAfterMilliseconds).toBeLessThan(100)
  })

  test.each<[string, Application, Partial<Found>]>([
    ['has time left', rolling(299), {}],
    ['restarted once or twice', rolling(50), { pods: [crashing(at(-40), 2)] }],
    ['has a pod of the release before that crashes', rolling(50), { pods: [crashing(at(-4000))] }],
    ['crashes long after its rollout', rolling(4000, {}, { release: 2 }), { rollout: complete, pods: [crashing(at(-40))] }],
    ['was ready, and whose pods start anew long afterwards', rolling(4000, {}, { release: 2 }), {}],
    [
      'was ready, and is refused by the cluster long afterwards',
      rolling(4000, {}, { release: 2 }),
      { progress: { kind: 'refused', whileApplying: true, reason: 'QuotaExceeded', message: 'no room' } },
    ],
    ['is to be kept', rolling(301, { rollout: { timeoutSeconds: 300, whenUnhealthy: 'Keep' } }), {}],
    ['is pinned', rolling(301), { observed: { ...observed, isPinned: true } }],
    ['is what others were rolled back to', rolling(301), { observed: { ...observed, newest: 3 } }],
    ['is suspended', rolling(301, { suspend: true }), {}],
    ['Kubernetes has not begun with', rolling(301), { rollout: unobserved }],
    ['is refused because of the spec', rolling(301), { progress: { kind: 'refused', reason: 'DomainTaken', message: 'taken' } }],
  ])('that %s is not rolled back', (_what, app, changes) => {
    expect(reportOf(app, found(changes), now).fields.rollback).toBeUndefined()
  })

  test('of a first release that fails says that there is nothing to go back to', () => {
    const first = { ...observed, newest: 1, runs: 1 }
    const app = application({}, { rollout: { release: 1, startedAt: at(-301) } })
    const { fields, note } = reportOf(app, found({ observed: first }), now)
    expect(fields.rollback).toBeUndefined()
    expect(note).toContain('no earlier release')
  })

  test('that Kubernetes begins with late has its whole time from then', () => {
    const look = (app: Application, rollout: Found['rollout'], seconds: number) =>
      reportOf(app, found({ rollout }), new Date(at(seconds)))
    const soon = look(rolling(0), unobserved, 4)
    expect(soon.fields.rollout).toEqual({ release: 2, startedAt: at(0), before: 1 })
    expect(soon.requeueAfterMilliseconds).toBe(56_000)
    expect(
      look(rolling(0, { rollout: { timeoutSeconds: 30, whenUnhealthy: 'RollBack' } }), unobserved, 4).requeueAfterMilliseconds,
    ).toBe(6000)
    const late = look(rolling(0), unobserved, 60)
    expect(late.fields.rollout).toEqual({ release: 2, startedAt: at(0), before: 1, delayed: true })
    expect(late.requeueAfterMilliseconds).toBeUndefined()
    const delayed = rolling(0, {}, late.fields)
    expect(look(delayed, unobserved, 1000).fields).toEqual(late.fields)
    const begun = look(delayed, incomplete, 1000)
    expect(begun.fields.rollout).toEqual({ release: 2, startedAt: at(0), before: 1, delayed: true, observedAt: at(1000) })
    expect(begun.requeueAfterMilliseconds).toBe(300_000)
    const going = rolling(0, {}, begun.fields)
    expect(look(going, incomplete, 1299).fields.rollback).toBeUndefined()
    expect(look(going, incomplete, 1301).fields.rollback).toMatchObject({ from: 2, to: 1 })
  })

  test('that Kubernetes begins with at once is recorded as before', () => {
    expect(reportOf(rolling(200), found(), now).fields.rollout).toEqual({ release: 2, startedAt: at(-200), before: 1 })
  })

  test('that the cluster refuses is judged although there is nothing to observe', () => {
    const progress = { kind: 'refused', whileApplying: true, reason: 'QuotaExceeded', message: 'no room' } as const
    expect(reportOf(rolling(301), found({ rollout: unobserved, progress }), now).fields.rollback).toMatchObject({
      from: 2,
      to: 1,
    })
  })

  test('of what is suspended does not count as one that was ready', () => {
    const { fields } = reportOf(rolling(10, { suspend: true }), found({ rollout: complete }), now)
    expect(fields.release).toBe(1)
  })
})

describe('what became of a release', () => {
  const status = {
    release: 3,
    latestRelease: 6,
    rollout: { release: 5, startedAt: at(0), before: 3 },
    rollback: { from: 4, to: 3, reason: 'crashed', at: at(0) },
    releaseJob: { release: 6, name: 'j', state: 'Failed', startedAt: at(0), message: 'exit 1' },
  } as const

  test.each([
    [2, undefined, 'Superseded'],
    [3, undefined, 'RolledOut'],
    [4, undefined, 'Unhealthy'],
    [5, undefined, undefined],
    [6, undefined, 'ReleaseJobFailed'],
    [3, 'RolledOut', undefined],
    [2, 'RolledOut', undefined],
    [3, 'Unhealthy', 'RolledOut'],
  ])('number %i, of which is known: %s, is %s', (number, known, expected) => {
    const next = nextOutcome(header(number, {}, known), status, now)
    expect(next?.conditions?.find(({ type }) => type === 'Ready')?.reason).toBe(expected)
  })

  test('the oldest go, but never one that runs, is pinned or is gone back to', () => {
    const all = [1, 2, 3, 4, 5, 6].map(number => header(number))
    const surplus = (kept: number, pinned?: number) =>
      surplusReleases(all, status, { kept, pinned }).map(({ spec }) => spec.number)
    expect(surplus(6)).toEqual([])
    expect(surplus(5)).toEqual([1])
    expect(surplus(2)).toEqual([1, 2])
    expect(surplus(2, 1)).toEqual([2])
  })
})
