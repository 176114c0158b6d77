// Selectors that a cloud adds to registrations: no difference while they leave out nothing that is protected.
import { expect, test } from 'vitest'
import { withoutAddedSelectors } from './added-selectors.ts'
import { decisive, differences } from './compare.ts'

const own = { matchExpressions: [{ key: 'sekisho.dev/tenant', operator: 'Exists' }] }
const registration = (namespaceSelector?: object) =>
  decisive({ webhooks: [{ name: 'a', sideEffects: 'None', ...(namespaceSelector && { namespaceSelector }) }] })
const tenant = { 'sekisho.dev/tenant': 'acme', 'kubernetes.io/metadata.name': 'acme' }

const differs = (wanted: unknown, found: unknown, namespaces: readonly Readonly<Record<string, string>>[] = [tenant]) =>
  differences(wanted, withoutAddedSelectors(wanted, found, namespaces))

/** https://learn.microsoft.com/en-us/azure/aks/faq : the admissions enforcer. */
const aks = [
  { key: 'control-plane', operator: 'DoesNotExist' },
  { key: 'kubernetes.azure.com/managedby', operator: 'NotIn', values: ['aks'] },
]
const gke = [{ key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: ['kube-system', 'kube-node-lease'] }]

test.each([
  ['AKS', aks],
  ['GKE Autopilot', gke],
])('what %s adds to a registration, with a selector of its own and without, is none', (_cloud, added) => {
  expect(differs(registration(), registration({ matchExpressions: added }))).toEqual([])
  expect(differs(registration(own), registration({ matchExpressions: [...own.matchExpressions, ...added] }))).toEqual([])
  expect(differs(registration(own), registration({ matchExpressions: [...added, ...own.matchExpressions] }))).toEqual([])
})

test.each<readonly [string, object, Readonly<Record<string, string>>[]]>([
  ['a selector that leaves out a tenant', { matchExpressions: [...own.matchExpressions, ...aks] }, [{ 'control-plane': 'true' }]],
  [
    'one that names a namespace of a tenant',
    { matchExpressions: [...own.matchExpressions, { ...gke[0], values: ['acme'] }] },
    [tenant],
  ],
  ['one that wants a label that tenants lack', { ...own, matchLabels: { never: 'x' } }, [tenant]],
  ['one that took the place of ours', { matchExpressions: aks }, [tenant]],
  ['an operator that is not known', { matchExpressions: [...own.matchExpressions, { key: 'x', operator: 'Maybe' }] }, [tenant]],
])('%s is a difference', (_what, selector, namespaces) => {
  const [path] = differs(registration(own), registration(selector), namespaces)
  expect(path).toContain('webhooks.a.namespaceSelector')
})

test('what else was added is a difference all the same', () => {
  const found = decisive({
    webhooks: [
      {
        name: 'a',
        sideEffects: 'None',
        namespaceSelector: { matchExpressions: aks },
        objectSelector: { matchLabels: { x: 'y' } },
      },
    ],
  })
  expect(differs(registration(), found)).toEqual(['webhooks.a.objectSelector'])
})
