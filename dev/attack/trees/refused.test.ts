// What a RemoteSync says of a hostile commit: a source that was fetched is a success of the attack, and what is said of another
// commit is nothing.
import { expect, test } from 'vitest'
import type { Shown } from '../deputies/object-attempts.ts'
import { judgeSource } from './refused.ts'

const shown = (commit: string, conditions: readonly object[]): Shown =>
  ({ metadata: { name: 'x', uid: 'u', generation: 2 }, spec: {}, status: { commit, conditions } }) as unknown as Shown
const ready = (reason: string, observedGeneration = 2) => ({
  type: 'Ready',
  status: 'False',
  reason,
  message: 'm',
  observedGeneration,
})
const fetched = (status: string) => ({ type: 'Fetched', status, reason: 'Done', message: '' })

test('only a refusal of this commit by the source store stops', () => {
  expect(judgeSource(shown('a', [ready('SourceMalformed')]), 'a')).toMatchObject({ outcome: 'stopped', by: 'controller' })
  expect(judgeSource(shown('a', [ready('SourceIncomplete'), fetched('False')]), 'a')).toMatchObject({ outcome: 'stopped' })
  for (const waiting of [
    shown('b', [ready('SourceMalformed')]),
    shown('a', [ready('SourceMalformed', 1)]),
    shown('a', [ready('FetchFailed')]),
    shown('a', []),
  ])
    expect(judgeSource(waiting, 'a')).toBeUndefined()
})

test('a source that was fetched is a success of the attack', () => {
  expect(judgeSource(shown('a', [ready('Building'), fetched('True')]), 'a')).toMatchObject({ outcome: 'succeeded' })
  expect(judgeSource(shown('b', [fetched('True')]), 'a')).toBeUndefined()
})
