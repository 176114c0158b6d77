// The judging of tokens at the end of a grant: one that GitHub takes afterwards is a success of the attack, whenever it was
// given.
import { expect, test } from 'vitest'
import { type Answer, judgeTokens } from './token-requests.ts'

const given = (at: number): Answer => ({ status: 200, token: 'a token', at })
const refused = (at: number): Answer => ({ status: 403, at })
const ended = { endedAt: 10, workedBefore: true, alive: [] }

test('tokens that are dead after the end, and a refusal, are a defence', () => {
  const verdict = judgeTokens({ ...ended, answers: [given(1), given(11), refused(12)] })
  expect(verdict).toMatchObject({ outcome: 'stopped', by: 'token desk' })
  expect(verdict.evidence).toBe('3 requests, 1 tokens, 1 given after the end, 1 refused after it: GitHub takes none')
})

test('a token that works after the end is a success of the attack', () => {
  expect(judgeTokens({ ...ended, answers: [given(1), refused(12)], alive: ['a token'] }).outcome).toBe('succeeded')
})

test('without a token that worked before, or a refusal after the end, nothing is known', () => {
  expect(judgeTokens({ ...ended, answers: [refused(12)], workedBefore: false }).outcome).toBe('unclear')
  expect(judgeTokens({ ...ended, answers: [given(1), refused(9), { status: 429, at: 12 }] }).outcome).toBe('unclear')
})
