// When `sekisho builds logs -f` waits for a build, and what it says otherwise.
import { expect, test } from 'vitest'
import { remoteSync } from '../../../api/apps/remote-sync.ts'
import { awaitedBuild } from './awaited-build.ts'

const pushed = 'b'.repeat(40)
const before = { commit: 'a'.repeat(40) }

function sync(reason: string | undefined, { status = 'False' as 'True' | 'False', generation = 1, isBuilt = false } = {}) {
  const condition = { type: 'Ready', status, message: 'a message', observedGeneration: 1, lastTransitionTime: '' }
  const built = { ...condition, type: 'Built', status: isBuilt ? ('True' as const) : ('False' as const), reason: 'Done' }
  const conditions = reason === undefined ? [] : [{ ...condition, reason }, built]
  return { metadata: { name: 'shop', namespace: 'acme', generation }, status: { commit: pushed, conditions } }
}

test.each([...remoteSync.reasons].map(([name, reason]) => [name, reason.class] as const))(
  'whether a build follows %s',
  (reason, of) => {
    if (of !== 'progress')
      return expect(awaitedBuild(sync(reason), undefined)).toEqual({ kind: 'none', message: `${reason}: a message` })
    const awaited = { kind: 'awaited', message: `${reason}: a message` }
    expect(awaitedBuild(sync(reason), undefined)).toEqual(awaited)
    expect(awaitedBuild(sync(reason), before)).toEqual(awaited)
  },
)

test('the build of the newest commit is not awaited, whatever the state', () => {
  for (const reason of ['Building', 'BuildFailed', 'RollingOut'])
    expect(awaitedBuild(sync(reason), { commit: pushed })).toEqual({ kind: 'none', message: undefined })
})

test('a RemoteSync that was just made has a build ahead; one that was just changed may have one', () => {
  expect(awaitedBuild(sync(undefined), undefined).kind).toBe('awaited')
  expect(awaitedBuild(sync('Building', { generation: 2 }), undefined).kind).toBe('awaited')
  expect(awaitedBuild(sync('Building', { generation: 2 }), before)).toEqual({ kind: 'none', message: undefined })
})

test('none is ahead of what is built', () => {
  const message = 'RollingOut: a message'
  expect(awaitedBuild(sync('RollingOut', { isBuilt: true }), before)).toEqual({ kind: 'none', message })
})

test('what is wrong is said instead of waiting for ever', () => {
  expect(awaitedBuild(sync('GrantDenied'), undefined)).toEqual({ kind: 'none', message: 'GrantDenied: a message' })
  expect(awaitedBuild(sync('PathsUnchanged', { status: 'True' }), before)).toEqual({ kind: 'none', message: undefined })
})
