// Whose approval is harm: everybody's but dave's, whose comment is the oldest.
import { expect, test } from 'vitest'
import { judgeApprovals } from './statements.ts'

const by = (id: number, via = 'Comment') => ({ headCommit: 'a', by: { id }, via })

test('only an approval by dave, by his comment, is a defence', () => {
  expect(judgeApprovals([by(1002)])).toMatchObject({ outcome: 'stopped', by: 'controller' })
  for (const found of [[by(1004)], [by(1901)], [by(1002, 'Review')], [by(1002), by(1004)]])
    expect(judgeApprovals(found).outcome).toBe('succeeded')
})
