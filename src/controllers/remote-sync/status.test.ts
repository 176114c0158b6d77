import { describe, expect, test } from 'vitest'
import { type Halt, halt } from './halt.ts'
import { nextStatus, type RemoteSyncStatus, withStatus, withTimes } from './status.ts'
import { now, sync } from './testing/remote-sync.ts'

const next = (halted?: Halt, status: RemoteSyncStatus = {}) => nextStatus({ remoteSync: sync(), status }, halted, now)
const states = (status: RemoteSyncStatus) =>
  Object.fromEntries((status.conditions ?? []).map(item => [item.type, `${item.status} ${item.reason}`]))

describe('conditions of a RemoteSync', () => {
  test.each<[string, Halt | undefined, object]>([
    [
      'are True before the stage that halted, and False from there on for its reason',
      halt('Built', 'BuildFailed', 'x'),
      {
        Resolved: 'True Done',
        Fetched: 'True Done',
        Built: 'False BuildFailed',
        Deployed: 'False BuildFailed',
        Ready: 'False BuildFailed',
      },
    ],
    [
      'are True for all stages while the rollout is awaited',
      halt('Ready', 'RollingOut', 'x'),
      { Resolved: 'True Done', Fetched: 'True Done', Built: 'True Done', Deployed: 'True Done', Ready: 'False RollingOut' },
    ],
    [
      'are all True at the end',
      undefined,
      { Resolved: 'True Done', Fetched: 'True Done', Built: 'True Done', Deployed: 'True Done', Ready: 'True Deployed' },
    ],
  ])('%s', (_what, halted, expected) => {
    expect(states(next(halted))).toEqual(expected)
  })

  test('say that the version before keeps serving when there is one', () => {
    const message = (image?: string) =>
      next(halt('Built', 'BuildFailed', 'x'), image === undefined ? {} : { image }).conditions?.[3]?.message
    expect(message('i')).toContain('keeps serving')
    expect(message()).not.toContain('keeps serving')
    const absent = next(halt('Deployed', 'ApplicationNotFound', 'x'), { image: 'i' }).conditions?.find(
      ({ type }) => type === 'Ready',
    )
    expect(absent?.message).toBe('x')
  })

  test('stay the same when nothing changed', () => {
    const once = next()
    const later = new Date(now.getTime() + 60_000)
    expect(nextStatus({ remoteSync: sync({}, { status: once }), status: once }, undefined, later)).toEqual(once)
  })
})

test('only a build that waits for its turn has a place in the queue', () => {
  const status = { build: { name: 'shop-1', commit: 'a', attempt: 1, queue: '3 of 5' } }
  expect(next(halt('Fetched', 'Queued', 'x'), status).build).toEqual(status.build)
  for (const halted of [undefined, halt('Resolved', 'InstallationNotReady', 'x')])
    expect(next(halted, status).build).toEqual({ name: 'shop-1', commit: 'a', attempt: 1 })
})

test('a state is a value: changes make a new one', () => {
  const state = { remoteSync: sync(), status: { commit: 'a', phases: { resolvedAt: '1' } } }
  expect(withTimes(withStatus(state, { grant: 'g' }), { fetchedAt: '2' }).status).toEqual({
    commit: 'a',
    grant: 'g',
    phases: { resolvedAt: '1', fetchedAt: '2' },
  })
  expect(state.status).toEqual({ commit: 'a', phases: { resolvedAt: '1' } })
})

test('the times of a commit end when it is available: what happens to it later is not how long it took', () => {
  const rolling = { remoteSync: sync(), status: { phases: { deployedAt: '1' } } }
  const available = withTimes(rolling, { deployedAt: '2', availableAt: '3' })
  expect(available.status.phases).toEqual({ deployedAt: '2', availableAt: '3' })
  // A roll back and forth, a restart, another build of the commit, or a newer run image.
  expect(withTimes(available, { buildCreatedAt: '4', deployedAt: '5', availableAt: '6' })).toEqual(available)
})
