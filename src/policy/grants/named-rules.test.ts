// Reading back what a decision names, also where it was cut off.
import { expect, test } from 'vitest'
import { namedRules } from './named-rules.ts'
import { maxRule } from './policy-ruling.ts'

test('the rules of both kinds are read, and nothing else', () => {
  expect(namedRules('GrantPolicy/releases/pushes,ClusterGrantPolicy/caps/writing')).toEqual([
    { kind: 'GrantPolicy', policy: 'releases', rule: 'pushes' },
    { kind: 'ClusterGrantPolicy', policy: 'caps', rule: 'writing' },
  ])
  expect(namedRules('GrantApproval/x,GrantPolicy/releases/pushes,read-contents').map(({ policy }) => policy)).toEqual([
    'releases',
  ])
  for (const text of ['', 'no-grant-policy-allows', 'GrantPolicy', 'GrantPolicy/releases', 'Constructor/a/b'])
    expect(namedRules(text)).toEqual([])
})

test('a name that may be cut off is not taken for a whole one', () => {
  const first = `GrantPolicy/${'a'.repeat(63)}/${'b'.repeat(63)}`
  const rest = `,GrantPolicy/releases/${'c'.repeat(63)},GrantPolicy/others/${'d'.repeat(63)}`
  const whole = `${first}${rest}`
  expect(whole.length).toBeGreaterThan(maxRule)
  const [, , last] = namedRules(whole.slice(0, maxRule))
  expect(last).toEqual({ kind: 'GrantPolicy', policy: 'others', rule: undefined })
  // Within the name of the policy.
  expect(namedRules(`${first},${'GrantPolicy/x/'.padEnd(maxRule - first.length - 15, 'y')},GrantPolicy/oth`)).toHaveLength(2)
})
