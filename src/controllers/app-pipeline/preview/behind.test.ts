// When a RemoteSync is behind what GitHub shows the AppPipeline.
import { expect, test } from 'vitest'
import type { RemoteSync } from '../../../api/apps/remote-sync.ts'
import { defined } from '../../../lib/json/defined.ts'
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
