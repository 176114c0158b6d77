// What is found in the namespaces of Tenants when labels, Pod Security or the policy that denies everything are not as they must
// be.
import { expect, test } from 'vitest'
import type { Namespace, NetworkPolicy } from '../../api/builtin/index.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'
import { isLookedAt, lookAtNamespaces } from './namespaces.ts'
import { tenantsToTry } from './wall-probe.ts'

const tenant = (name: string, more: object = {}): Tenant =>
  ({
    apiVersion: 'tenancy.sekisho.dev/v1alpha1',
    kind: 'Tenant',
    metadata: { name },
    spec: { namespace: name },
    status: { namespace: name, conditions: [{ type: 'Ready', status: 'True' }] },
    ...more,
  }) as unknown as Tenant

const namespace = (name: string, labels: object = {}): Namespace =>
  ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name,
      labels: {
        'sekisho.dev/tenant': 'acme',
        'sekisho.dev/purpose': name.endsWith('-build') ? 'build' : 'application',
        'pod-security.kubernetes.io/enforce': 'restricted',
        ...labels,
      },
    },
  }) as Namespace
const policy = (spec: NetworkPolicy['spec']): NetworkPolicy => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name: 'p' },
  ...(spec === undefined ? {} : { spec }),
})
const denyAll = policy({ podSelector: {}, policyTypes: ['Ingress', 'Egress'] })

type Changed = {
  readonly application?: Namespace | undefined
  readonly build?: Namespace
  readonly policies?: readonly NetworkPolicy[]
  readonly buildsDockerfiles?: boolean
}

function found(changed: Changed): readonly string[] {
  const { build = namespace('acme-build'), policies = [denyAll], buildsDockerfiles = false } = changed
  const application = 'application' in changed ? changed.application : namespace('acme')
  const { findings } = lookAtNamespaces({
    tenants: [tenant('acme')],
    namespaceOf: name => (name === 'acme' ? application : name === 'acme-build' ? build : undefined),
    policies: new Map([
      ['acme', policies],
      ['acme-build', [denyAll]],
    ]),
    buildsDockerfiles,
  })
  return findings.map(({ wall, where, text }) => `${wall} ${where}: ${text}`)
}

const privileged = { 'pod-security.kubernetes.io/enforce': 'privileged' }

test('what is as it must be is not found', () => {
  expect(found({})).toEqual([])
  expect(found({ build: namespace('acme-build', privileged), buildsDockerfiles: true })).toEqual([])
  const oneWay = (direction: string) => policy({ podSelector: {}, policyTypes: [direction] })
  expect(found({ policies: [oneWay('Ingress'), oneWay('Egress')] })).toEqual([])
})

test.each<readonly [string, Changed, RegExp]>([
  [
    'no label of the tenant',
    { application: undefined },
    /^namespace-labels acme: it is missing, or lacks the label sekisho.dev\/tenant/,
  ],
  [
    'another tenant',
    { application: namespace('acme', { 'sekisho.dev/tenant': 'globex' }) },
    /^namespace-labels acme: .* must be acme/,
  ],
  [
    'another purpose',
    { application: namespace('acme', { 'sekisho.dev/purpose': 'build' }) },
    /^namespace-labels acme: .*purpose application/,
  ],
  [
    'a loosened namespace',
    { application: namespace('acme', privileged), buildsDockerfiles: true },
    /^pod-security acme: .* is privileged/,
  ],
  [
    'a loosened build namespace where nothing replaces it',
    { build: namespace('acme-build', privileged) },
    /^pod-security acme-build: /,
  ],
  ['no policy', { policies: [] }, /^network-default-deny acme: no policy denies all pods Ingress and Egress$/],
  ['one direction', { policies: [policy({ podSelector: {}, policyTypes: ['Ingress'] })] }, /denies all pods Egress$/],
  [
    'a policy that allows everything',
    { policies: [policy({ podSelector: {}, policyTypes: ['Ingress', 'Egress'], egress: [{}] })] },
    /denies all pods Egress$/,
  ],
  [
    'a policy for some pods',
    { policies: [policy({ podSelector: { matchLabels: { a: 'b' } }, policyTypes: ['Ingress', 'Egress'] })] },
    /denies all pods Ingress and Egress$/,
  ],
])('%s is found', (_what, changed, expected) => {
  expect(found(changed)).toEqual([expect.stringMatching(expected)])
})

test('Tenants are looked at from when their namespaces were made until they end, also while they are not Ready', () => {
  const conditions = [{ type: 'Ready', status: 'False' }]
  const cases: readonly (readonly [Tenant, boolean])[] = [
    [tenant('a'), true],
    [tenant('b', { status: { namespace: 'b', conditions } }), true],
    [tenant('c', { status: { conditions } }), false],
    [tenant('d', { status: undefined }), false],
    [tenant('e', { metadata: { name: 'e', deletionTimestamp: '2026-01-01T00:00:00Z' } }), false],
  ]
  expect(cases.map(([one]) => isLookedAt(one))).toEqual(cases.map(([, expected]) => expected))
})

test('each round tries other tenants, and again those where a wall was off', () => {
  const many = Array.from({ length: 12 }, (_, index) => tenant(`t${index}`))
  const tried = (turn: number, where?: string) =>
    tenantsToTry(many, where === undefined ? [] : [{ wall: 'secrets', verdict: 'Off', where, text: '' }], turn).map(
      ({ metadata }) => metadata.name,
    )
  expect([tried(0), tried(1), tried(2)]).toEqual([
    ['t0', 't1', 't2', 't3', 't4'],
    ['t5', 't6', 't7', 't8', 't9'],
    ['t10', 't11', 't0', 't1', 't2'],
  ])
  expect(tried(0, 't7-build')).toEqual(['t0', 't1', 't2', 't3', 't4', 't7'])
  expect(tenantsToTry([], [], 3)).toEqual([])
})
