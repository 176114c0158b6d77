// What follows a repository whose owner was renamed: another number, or the stranger's commit, is a success of the attack.
import { expect, test } from 'vitest'
import { judgeFollowed } from './takeovers.ts'

const before = { repository: { id: 1, name: 'globex/site' }, commit: 'ours' }
const moved = { id: 1, name: 'moved-globex/site' }

test('the repository is followed by its number, or the attack succeeded', () => {
  expect(judgeFollowed(before, before, 'planted')).toBeUndefined()
  expect(judgeFollowed(before, { repository: moved, commit: 'ours' }, 'planted')).toMatchObject({ outcome: 'stopped' })
  expect(judgeFollowed(before, { repository: { id: 2, name: 'globex/site' }, commit: 'ours' }, 'planted')?.outcome).toBe(
    'succeeded',
  )
  expect(judgeFollowed(before, { repository: moved, commit: 'planted' }, 'planted')?.outcome).toBe('succeeded')
  expect(judgeFollowed(before, { repository: moved, commit: 'another' }, 'planted')?.outcome).toBe('unclear')
})
