// When `sekisho builds logs -f` waits for a build, and what it says otherwise.
import { describe, expect, test } from 'vitest'
import { remoteSync } from '../../../api/apps/remote-sync.ts'
import { awaitedBuild, awaitedCommit } from './awaited-build.ts'
import type { Build } from './build-answers.ts'

const pushed = 'b'.repeat(40)
const build = (commit: string, outcome?: string, name = `shop-${commit.slice(0, 12)}`): Build => ({
  name,
  remoteSync: 'shop',
  commit,
  ...(outcome === undefined ? {} : { outcome }),
})
const before = build('a'.repeat(40), 'Succeeded')

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
    expect(awaitedBuild(sync(reason), build(pushed, 'Failed'))).toEqual({ kind: 'none', message: undefined })
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

describe('another attempt at a commit that failed', () => {
  const failed = build(pushed, 'Failed')

  test('is awaited once the RemoteSync was changed', () => {
    expect(awaitedBuild(sync('BuildFailed', { generation: 2 }), failed).kind).toBe('awaited')
  })

  test('is awaited while it waits for its turn', () => {
    const queued = sync('Queued')
    const status = { ...queued.status, build: { name: 'shop-bbbbbbbbbbbb-2', commit: pushed, attempt: 2 } }
    expect(awaitedBuild({ ...queued, status }, failed)).toEqual({ kind: 'awaited', message: 'Queued: a message' })
  })

  test('is not awaited when nothing was changed', () => {
    expect(awaitedBuild(sync('BuildFailed'), failed)).toEqual({ kind: 'none', message: undefined })
  })
})

describe('the build of one commit', () => {
  const other = 'c'.repeat(40)

  test('is found by the beginning of its id, the newest attempt first', () => {
    const builds = [build(pushed, undefined, 'second'), build(pushed, 'Failed', 'first'), before]
    expect(awaitedCommit(sync('Building'), builds, 'bbbbbbb')).toEqual({ kind: 'build', build: builds[0] })
    expect(awaitedCommit(sync('Building'), builds, 'aaaaaaaaaa')).toEqual({ kind: 'build', build: before })
  })

  test('is awaited while the platform knows an older commit only, whatever became of that', () => {
    for (const reason of ['Deployed', 'BuildFailed', 'BranchNotFound'])
      expect(awaitedCommit(sync(reason), [before], other)).toEqual({
        kind: 'awaited',
        message: 'the platform has not heard of commit cccccccccccc yet; the newest that it knows is bbbbbbbbbbbb',
      })
  })

  test('is awaited while the commit waits for its turn', () => {
    expect(awaitedCommit(sync('Queued'), [before], pushed)).toEqual({ kind: 'awaited', message: 'Queued: a message' })
  })

  test('will not come for a commit that needs none, or that nothing is looked for', () => {
    const kept = sync('PathsUnchanged', { status: 'True', isBuilt: true })
    expect(awaitedCommit(kept, [before], pushed)).toEqual({ kind: 'none', message: 'PathsUnchanged: a message', isWrong: false })
    expect(awaitedCommit(sync('Suspended'), [before], other)).toMatchObject({ kind: 'none', isWrong: true })
    expect(awaitedCommit(sync('SourceTooLarge'), [before], pushed)).toMatchObject({ kind: 'none', isWrong: true })
  })
})
