// What counts as a difference between an object that is shipped and one that stands: everything but what the API server fills in.
import { expect, test } from 'vitest'
import { decisive, differences } from './compare.ts'

const policy = {
  failurePolicy: 'Fail',
  matchConstraints: {
    matchPolicy: 'Equivalent',
    resourceRules: [{ apiGroups: [''], apiVersions: ['*'], resources: ['pods'], operations: ['CREATE'], scope: '*' }],
  },
  validations: [{ expression: 'false', message: 'no', reason: 'Forbidden' }],
}
const of = (spec: object): unknown => decisive({ spec })
const withConstraints = (more: object): object => ({ ...policy, matchConstraints: { ...policy.matchConstraints, ...more } })

test('what the API server fills in is no difference', () => {
  const stored = withConstraints({ namespaceSelector: {}, objectSelector: {} })
  expect(differences(of(policy), of(stored))).toEqual([])
  const { failurePolicy: _, ...silent } = policy
  expect(differences(of(policy), of(silent))).toEqual([])
})

test.each<readonly [string, object, string]>([
  [
    'a condition that is never true',
    { ...policy, matchConditions: [{ name: 'x', expression: 'false' }] },
    'spec.matchConditions',
  ],
  ['a selector', withConstraints({ objectSelector: { matchLabels: { x: 'y' } } }), 'spec.matchConstraints.objectSelector'],
  [
    'rules that are left out',
    withConstraints({ excludeResourceRules: [{ resources: ['*'] }] }),
    'spec.matchConstraints.excludeResourceRules',
  ],
  ['failures that are ignored', { ...policy, failurePolicy: 'Ignore' }, 'spec.failurePolicy'],
  [
    'another expression',
    { ...policy, validations: [{ ...policy.validations[0], expression: 'true' }] },
    'spec.validations.0.expression',
  ],
  ['one validation less', { ...policy, validations: [] }, 'spec.validations'],
  ['a field of the prototype', { ...policy, constructor: 'x' }, 'spec.constructor'],
])('%s is one', (_what, changed, path) => {
  expect(differences(of(policy), of(changed))).toEqual([path])
})

test('of a registration the authority and the order do not count, its calls do', () => {
  const call = (name: string, more: object = {}) => ({
    name,
    clientConfig: { service: { namespace: 'sekisho-system', name: 'x', path: '/y', port: 443 }, ...more },
    sideEffects: 'None',
  })
  const shipped = decisive({ webhooks: [call('a'), call('b')] })
  expect(differences(shipped, decisive({ webhooks: [call('b', { caBundle: 'eA==' }), call('a')] }))).toEqual([])
  expect(differences(shipped, decisive({ webhooks: [call('a')] }))).toEqual(['webhooks.b'])
  expect(differences(shipped, decisive({ webhooks: [call('a'), call('b'), call('c')] }))).toEqual(['webhooks.c'])
  expect(differences(shipped, decisive({ webhooks: [call('a', { url: 'https://x' }), call('b')] }))).toEqual([
    'webhooks.a.clientConfig.url',
  ])
})

test('only the first differences are named', () => {
  const all = Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map(key => [key, 'x']))
  expect(differences(of({}), of(all))).toHaveLength(1)
  expect(differences(of({ z: 'x' }), of({ ...all, z: 'x' }))).toHaveLength(3)
})
