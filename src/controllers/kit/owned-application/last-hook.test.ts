// When an owned Application may be deleted: after its hook, and at the latest when the time of the hook is over.
import { expect, test } from 'vitest'
import type { Application } from '../../../api/apps/application.ts'
import { endingAnnotation, endStep, isEnding } from './last-hook.ts'

const now = new Date('2026-01-01T12:00:00.000Z')
const hook = { command: ['drop'], timeoutSeconds: 60 }
const before = (seconds: number): string => new Date(now.getTime() - seconds * 1000).toISOString()

/** An Application at generation 2 that has run release 1. */
function app(status: Application['status'] = {}, since?: string): Application {
  const annotations = since === undefined ? {} : { [endingAnnotation]: since }
  return {
    apiVersion: 'v',
    kind: 'Application',
    metadata: { name: 'shop-pr-1', namespace: 'acme', uid: 'uid-1', generation: 2, resourceVersion: '5', annotations },
    spec: { chart: 'web' },
    status: { release: 1, latestRelease: 2, observedGeneration: 2, ...status },
  }
}

type Job = NonNullable<NonNullable<Application['status']>['releaseJob']>
const job = (changes: Partial<Job> = {}): { releaseJob: Job } => ({
  releaseJob: { release: 2, name: 'x', state: 'Succeeded', startedAt: before(9), ...changes },
})
const { release: _, ...neverRan } = app().status ?? {}

test.each<[string, Parameters<typeof endStep>[0], Application, string]>([
  ['without a hook', undefined, app(), 'delete'],
  ['that never ran', hook, { ...app(), status: neverRan }, 'delete'],
  ['that ran', hook, app(), 'begin'],
  ['whose hook is not seen yet', hook, app({ observedGeneration: 1 }, before(10)), 'wait'],
  ['whose hook runs', hook, app(job({ state: 'Running' }), before(10)), 'wait'],
  ['whose hook has succeeded', hook, app(job(), before(10)), 'delete'],
  ['whose hook has failed', hook, app(job({ state: 'Failed' }), before(10)), 'delete'],
  ['whose job is that of a release before', hook, app(job({ release: 1 }), before(10)), 'wait'],
  ['whose job began before its end', hook, app(job({ startedAt: before(11) }), before(10)), 'wait'],
  ['whose hook takes too long', hook, app(job({ state: 'Running' }), before(180)), 'delete'],
  ['whose hook is not in the spec any more', undefined, app(job({ state: 'Running' }), before(10)), 'delete'],
  ['whose annotation is not a time', hook, app({}, 'x'), 'delete'],
])('a preview %s: %#', (_what, wanted, application, kind) => {
  expect(endStep(wanted, application, now).kind).toBe(kind)
})

test('the end begins with the hook in place of the release job, once', () => {
  expect(endStep(hook, app(), now)).toEqual({
    kind: 'begin',
    patch: {
      metadata: { uid: 'uid-1', resourceVersion: '5', annotations: { [endingAnnotation]: now.toISOString() } },
      spec: { releaseJob: hook, suspend: null },
    },
    milliseconds: 180_000,
  })
  expect([isEnding(app()), isEnding(app({}, now.toISOString())), isEnding(undefined)]).toEqual([false, true, false])
})
