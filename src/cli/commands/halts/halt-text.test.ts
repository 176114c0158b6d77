// The lines that people read when access ended, or would end.
import { expect, test } from 'vitest'
import { dryRunText, type HaltAnswer, haltedText, liftedText } from './halt-text.ts'

const answer: HaltAnswer = {
  name: 'repository-x',
  namespace: 'acme',
  message: 'GitHub has not revoked 1 token yet',
  target: { type: 'Repository', repository: { host: 'github.com', id: 4001, name: 'acme/shop' } },
  tokens: { left: 0, revoked: 2, expired: 0 },
  grants: { count: 3, names: ['acme/a', 'acme/b'] },
}
const token: HaltAnswer = { ...answer, target: { type: 'Token', token: { id: 'some-id' } }, grants: { count: 0, names: [] } }

test('what ended, what is left, and how to lift it', () => {
  expect(haltedText(answer)).toBe(
    [
      'halted repository acme/shop (4001) on github.com: 2 tokens revoked',
      'no token any more under 3 grants: acme/a, acme/b and more',
      'lift it with: sekisho resume repository-x -n acme --reason TEXT',
    ].join('\n'),
  )
  expect(haltedText({ ...answer, tokens: { left: 1, revoked: 1, expired: 0 } })).toContain(
    ': 1 token revoked; 1 is left: GitHub has not revoked 1 token yet\n',
  )
})

test('a token ends alone: other grants of who had it live on', () => {
  expect(haltedText(token)).toContain('\nwho had it gets no other one under the same grant\n')
})

test('a dry run says what would end, at the broker too', () => {
  const asked = { ...token, tokens: { left: 1, revoked: 0, expired: 0 } }
  expect(dryRunText(asked, undefined)).toBe(
    'would halt token some-id: 1 live token would be revoked; who had it gets no other one under the same grant',
  )
  const counts = { webSessions: 2, programs: 1, onboardings: 0 }
  expect(dryRunText(asked, { idTokens: 'AtNextUse', counted: true, ...counts }).split('\n')[1]).toContain('web sessions: 2')
})

test('who lifts a Halt of a person is told what counts again', () => {
  const spec = { target: answer.target, reason: 'leaked', requestedBy: 'github|github.com|7', workloads: 'Keep' } as const
  expect(liftedText(spec, false)).toBe('lifted repository acme/shop (4001) on github.com, which github.com/7 halted: leaked')
  const person = { type: 'Person', person: { host: 'github.com', id: 42, login: 'gary' } } as const
  expect(liftedText({ ...spec, target: person }, true).split('\n')).toEqual([
    'lifted person gary (42) on github.com, which github.com/7 halted: leaked (dry run)',
    expect.stringContaining('ID tokens of before the Halt count again'),
  ])
})
