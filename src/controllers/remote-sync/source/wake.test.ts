import { describe, expect, test } from 'vitest'
import type { RemoteSync } from '../../../api/apps/remote-sync.ts'
import { wakeOf } from '../../kit/repository/observed-wake.ts'
import { commit, condition, now, sync } from '../testing/remote-sync.ts'
import { knownConflict, mayRetry, mustResolve, signalledAt } from './wake.ts'

const known = sync({}, { status: { commit, observedGeneration: 1, handledWake: 'old' } })
const newSpec = { ...known, metadata: { ...known.metadata, generation: 2 } }
const unresolved: RemoteSync = {
  ...known,
  status: { ...known.status, conditions: [condition('Resolved', 'False', 'InstallationNotReady')] },
}
const fixed = sync({ source: { commit } }).spec

/** Of a preview: its AppPipeline lists the pull requests. */
function ofPipeline(changes: Partial<RemoteSync['spec']['source']> = {}, of: RemoteSync = known): RemoteSync {
  const owner = { apiVersion: 'apps.sekisho.dev/v1alpha1', kind: 'AppPipeline', name: 'shop', uid: 'u', controller: true }
  return {
    ...of,
    metadata: { ...of.metadata, ownerReferences: [owner] },
    spec: { ...of.spec, source: { pullRequest: 3, ...changes } },
    status: { ...of.status, pullRequest: { number: 3, headCommit: commit, baseBranch: 'main' } },
  }
}

function woken(value: string): RemoteSync {
  return { ...known, metadata: { ...known.metadata, annotations: { 'sekisho.dev/wake': value } } }
}

describe('GitHub is asked', () => {
  const minutesAgo = (count: number): Date => new Date(now.getTime() - count * 60_000)

  test.each<[string, RemoteSync, Date | undefined, boolean]>([
    ['for a new object', sync(), minutesAgo(1), true],
    ['for a new spec', newSpec, minutesAgo(1), true],
    ['for a new wake', woken('new'), minutesAgo(1), true],
    ['after a restart', known, undefined, true],
    ['by the sweep', known, minutesAgo(5), true],
    ['by a sweep that comes a tenth early', known, minutesAgo(4.5), true],
    ['shortly after the last time', known, minutesAgo(1), false],
    ['for a wake that was handled', woken('old'), minutesAgo(1), false],
    ['for a fixed commit that is known', { ...woken('new'), spec: fixed }, undefined, false],
    ['when there is access again', unresolved, minutesAgo(1), true],
    ['for a preview after a restart: its AppPipeline lists', ofPipeline(), undefined, false],
    ['for a preview by the sweep', ofPipeline(), minutesAgo(60), false],
    ['for a preview that is woken', ofPipeline({}, woken('new')), minutesAgo(1), true],
    [
      'for a preview of a merge commit by the sweep: its AppPipeline lists',
      ofPipeline({ mergeCommit: true }),
      minutesAgo(5),
      false,
    ],
    ['for a preview of a merge commit after hours', ofPipeline({ mergeCommit: true }), minutesAgo(360), true],
    ['for a preview of a merge commit after a restart', ofPipeline({ mergeCommit: true }), undefined, true],
    ['for a fixed commit of a new spec', { ...newSpec, spec: fixed }, minutesAgo(1), true],
  ])('%s: %#', (_when, remoteSync, lastCheckedAt, expected) => {
    expect(mustResolve({ remoteSync, lastCheckedAt, now }, 300_000)).toBe(expected)
  })
})

describe('a conflict', () => {
  const secondsAgo = (count: number): Date => new Date(now.getTime() - count * 1000)
  const hour = 3600

  /** First seen so many seconds ago. */
  function conflicting(since: number, of: RemoteSync = known, reason = 'MergeConflict'): RemoteSync {
    const preview = ofPipeline({ mergeCommit: true }, of)
    const conditions = [condition('Resolved', 'False', reason)]
    const conflict = { number: 3, headCommit: commit, baseBranch: 'main', conflictSince: secondsAgo(since).toISOString() }
    return { ...preview, status: { ...preview.status, conditions, pullRequest: conflict } }
  }
  const own = (since: number): RemoteSync => ({ ...conflicting(since), metadata: known.metadata })

  test.each<[string, RemoteSync, Date | undefined, boolean]>([
    ['that is new, at each reconcile', conflicting(30), secondsAgo(30), false],
    ['that is a minute old', conflicting(61), secondsAgo(61), true],
    ['that is a minute old and was asked about in between', conflicting(61), secondsAgo(10), true],
    ['that was asked about a minute after it began, by the sweep', conflicting(hour), secondsAgo(hour - 61), false],
    ['after hours', conflicting(7 * hour), secondsAgo(6 * hour), true],
    ['after a restart', conflicting(hour), undefined, true],
    ['for a new wake', conflicting(hour, woken('new')), secondsAgo(10), true],
    ['for a new spec', conflicting(hour, newSpec), secondsAgo(10), true],
    ['when there is access again', conflicting(hour, known, 'InstallationNotReady'), secondsAgo(10), true],
    ['of a RemoteSync that a person wrote, shortly after the last time', own(hour), secondsAgo(60), false],
    ['of a RemoteSync that a person wrote, by the sweep', own(hour), secondsAgo(300), true],
  ])('is asked about %s: %#', (_when, remoteSync, lastCheckedAt, expected) => {
    const conflict = knownConflict({ remoteSync, lastCheckedAt, now }, 300_000)
    expect(conflict).toEqual(expected ? undefined : remoteSync.status?.pullRequest)
  })
})

test('a failed commit may be retried after a webhook and after a change of the spec, not by the sweep', () => {
  expect([woken('new'), newSpec, known, woken('old')].map(mayRetry)).toEqual([true, true, false, false])
})

test('the signal has the time of the webhook, never one in the future, and now when there is no valid time', () => {
  expect(signalledAt(woken('2026-01-01T11:59:59.250Z/delivery-1'), now)).toBe('2026-01-01T11:59:59.250Z')
  for (const value of ['2030-01-01T00:00:00Z/x', 'nonsense', '2026-13-99T00:00:00Z/x'])
    expect(signalledAt(woken(value), now)).toBe(now.toISOString())
  expect(signalledAt(known, now)).toBe(now.toISOString())
})

test('a long annotation is cut to what the status holds, and still wakes', () => {
  const long = woken('x'.repeat(5000))
  expect(wakeOf(long)).toHaveLength(512)
  expect(mayRetry(long)).toBe(true)
  expect(mayRetry({ ...long, status: { ...known.status, handledWake: wakeOf(long) ?? '' } })).toBe(false)
})
