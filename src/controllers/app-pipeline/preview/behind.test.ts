// The state of a preview, and when its RemoteSync is behind what GitHub shows the AppPipeline.
import { expect, test } from 'vitest'
import { application } from '../../../api/apps/application.ts'
import { type RemoteSync, remoteSync as remoteSyncs } from '../../../api/apps/remote-sync.ts'
import { stateOfUnready } from '../../../api/reasons/remote-sync-state.ts'
import { defined } from '../../../lib/json/defined.ts'
import { standingOf } from '../../kit/owned-application/state.ts'
import { now, preview, sha } from '../testing/app-pipeline.ts'
import { isBehind } from './behind.ts'

const [head, base, next] = [sha(1), sha(2), sha(3)]
const seconds = (count: number): Date => new Date(now.getTime() + count * 1000)
/** Asked for now. */
const tip = (commit: string) => ({ commit, askedAt: now, pushedAt: undefined })

function sync(status: RemoteSync['status']): RemoteSync {
  const { remoteSync } = preview(1)
  if (remoteSync === undefined) return expect.fail('no RemoteSync')
  return { ...remoteSync, ...defined({ status }) }
}

/** It runs the merge of head and `baseCommit`, and was resolved so many seconds from now. */
const merge = (baseCommit: string | undefined, resolved = -60): RemoteSync =>
  sync({
    pullRequest: { number: 1, headCommit: head, baseBranch: 'main', ...defined({ baseCommit }) },
    phases: { resolvedAt: seconds(resolved).toISOString() },
  })

/** Of head and base, seen so many seconds from now. */
const conflict = (since: number): RemoteSync =>
  sync({
    pullRequest: {
      number: 1,
      headCommit: head,
      baseBranch: 'main',
      baseCommit: base,
      conflictSince: seconds(since).toISOString(),
    },
    phases: { resolvedAt: seconds(-600).toISOString() },
  })

test.each<[string, RemoteSync, readonly [string, ReturnType<typeof tip>?], boolean]>([
  ['that was not resolved yet', sync(undefined), [head], false],
  ['of another head', sync({ commit: head }), [next], true],
  ['of this head', sync({ commit: head }), [head], false],
  ['of a head, which has no base', sync({ commit: head }), [head, tip(base)], false],
  ['of a merge, when the newest commit of the base is not known', merge(base), [head], false],
  ['of a merge with the newest commit of the base', merge(base), [head, tip(base)], false],
  ['of a merge with a former commit of the base', merge(base), [head, tip(next)], true],
  ['of a merge with a newer commit of the base', merge(base, 1), [head, tip(next)], false],
  ['of a merge of another head', merge(base, 1), [next, tip(base)], true],
  ['in conflict with the newest commit of the base', conflict(-60), [head, tip(base)], false],
  ['in conflict with a former commit of the base', conflict(-60), [head, tip(next)], true],
  ['in conflict with a newer commit of the base', conflict(1), [head, tip(next)], false],
  ['in conflict, of a former head', conflict(1), [next, tip(base)], true],
  ['that waits for a merge', merge(undefined), [head, tip(base)], false],
])('a RemoteSync %s', (_what, remoteSync, [headCommit, newest], expected) => {
  expect(isBehind(remoteSync, headCommit, newest)).toBe(expected)
})

const unready = (reason: string) => {
  const about = { status: 'False', message: 'm', lastTransitionTime: '', observedGeneration: 1 } as const
  return {
    conditions: [
      { ...about, type: 'Ready', reason },
      { ...about, type: 'Resolved', status: 'True' as const, reason: 'Done' },
    ],
  }
}

test.each([...remoteSyncs.reasons.keys()])('a preview whose RemoteSync says %s', reason => {
  const remoteSync = sync(unready(reason))
  expect(standingOf({ ...preview(1), remoteSync }, { noun: 'preview', isBuilt: true, headCommit: head })).toEqual({
    state: stateOfUnready(remoteSync, { reason }),
    reason,
    message: 'm',
  })
})

test.each([...application.reasons].map(([name, reason]) => [name, reason.class] as const))(
  'a preview whose Application is not ready for %s',
  (reason, of) => {
    const found = preview(1)
    const objects = {
      ...found,
      remoteSync: sync(unready('ApplicationNotReady')),
      application: { ...found.application, status: unready(reason) },
    }
    const state = of === 'progress' || of === 'machine' ? 'Building' : 'Failed'
    expect(standingOf(objects as typeof found, { noun: 'preview', isBuilt: true, headCommit: head })).toEqual({
      state,
      reason,
      message: 'm',
    })
  },
)
