// Since when something counts as changed: which record counts for the long form, and which for what a whole run plays.
import { expect, test } from 'vitest'
import { wholeRun } from '../long/records.ts'
import type { Git } from './git-changes.ts'
import { sinceParts } from './since.ts'

const at = (day: number): string => `2026-01-0${day}T00:00:00Z`
const recordOf = (commit: string, day: number) => ({ commit, at: at(day), seconds: 1 })
/** Since each commit one file changed, which has its name. */
const git: Git = async (command, ...args) => (command === 'diff' ? `${args.at(-2)}.ts\0` : '')
const environment = {}

test('what a whole run played counts when it is newer than the part, and never for the long form', async () => {
  const records = { old: recordOf('a', 1), new: recordOf('c', 3), [wholeRun]: recordOf('b', 2) }
  const { long, played } = await sinceParts(['old', 'new', 'never'], { git, records, environment })
  expect(long('old')).toEqual({ base: 'a', changes: ['a.ts'] })
  expect(played('old')).toEqual({ base: 'b', changes: ['b.ts'] })
  expect(long('new')).toEqual({ base: 'c', changes: ['c.ts'] })
  expect(played('new')).toEqual({ base: 'c', changes: ['c.ts'] })
  expect(long('never')).toMatchObject({ base: undefined, why: 'it has not passed yet' })
  expect(played('never')).toEqual({ base: 'b', changes: ['b.ts'] })
})

test('without a record nothing has passed, and a commit that is named counts for all', async () => {
  const none = await sinceParts(['old'], { git, records: {}, environment })
  expect([none.long('old'), none.played('old')]).toEqual(Array(2).fill({ base: undefined, why: 'it has not passed yet' }))
  const given = await sinceParts(['old'], { git, records: { old: recordOf('a', 1) }, environment: { SEKISHO_TEST_BASE: 'x' } })
  expect([given.long('old'), given.played('old')]).toEqual(Array(2).fill({ base: 'x', changes: ['x.ts'] }))
})
