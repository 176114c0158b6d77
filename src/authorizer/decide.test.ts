// The decision: what holders of built-in roles ask for, what must go on, and a property over all verbs and names.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { halt } from '../api/github/halt.ts'
import { reservedSecretPrefixes } from '../api/reserved-secrets.ts'
import { decide } from './decide.ts'
import { accessOf } from './named-subjects.ts'
import type { AskedResource } from './review.ts'

const access = accessOf({
  readers: 'User ada\nGroup sre\nServiceAccount monitoring/prometheus',
  namespaces: 'tools',
})

const holder = { user: 'system:serviceaccount:tools:holder', groups: ['system:serviceaccounts', 'system:serviceaccounts:tools'] }

type Asked = Partial<AskedResource>

function asks(asked: Asked, who: { readonly user: string; readonly groups: readonly string[] } = holder): string | undefined {
  const empty = { verb: 'get', group: '', resource: 'secrets', subresource: '', namespace: 'globex', name: '' }
  return decide({ ...who, resource: { ...empty, ...asked } }, access)
}

const everyVerb = ['get', 'list', 'watch', 'update', 'patch', 'delete', 'deletecollection', '*', 'impersonate-on:user-info:get']

describe('Secrets', () => {
  test.each(everyVerb)('%s of a reserved one is denied, with the cure', verb => {
    for (const name of ['ghtok-x', 'appsecret-shop', 'sekisho-registry-pull', 'binding-shop']) {
      expect(asks({ verb, name })).toContain(`the Secret ${name} is the platform’s`)
      expect(asks({ verb, name, namespace: 'tools' }), 'a namespace may be listed, its reserved Secrets not read').toContain(name)
      expect(asks({ verb, name })).toContain('docs/guide/authorizer.md')
    }
  })

  test.each(everyVerb)('%s of another one is left to RBAC', verb => {
    for (const name of ['shop-database', 'xappsecret-x', 'ghtok', 'APPSECRET-x']) expect(asks({ verb, name })).toBeUndefined()
  })

  test.each(['list', 'watch', 'deletecollection'])('%s without a name is denied but in open namespaces', verb => {
    expect(asks({ verb })).toContain(`${verb} of all Secrets in globex`)
    expect(asks({ verb, namespace: '' })).toContain('in all namespaces')
    expect(asks({ verb, namespace: 'globex-build' })).toBeDefined()
    expect(asks({ verb, namespace: 'tools' })).toBeUndefined()
  })

  test('values of a build are its own only where builds run', () => {
    expect(asks({ name: 'build-secrets-1', namespace: 'globex-build' })).toBeDefined()
    expect(asks({ name: 'build-secrets-1' })).toBeUndefined()
  })

  test('a create shows nothing: admission judges the name', () => {
    expect(asks({ verb: 'create' })).toBeUndefined()
    expect(asks({ verb: 'create', name: 'appsecret-x' })).toBeUndefined()
  })

  test('another group has no Secrets', () => {
    expect(asks({ group: 'example.com', verb: 'list' })).toBeUndefined()
  })
})

describe.each(['sekisho-system', 'sekisho-data'])('the namespace %s of the platform', namespace => {
  test.each(['configmaps', 'pods', 'events', 'leases', 'secrets'])('nobody else reads %s there', resource => {
    for (const verb of ['get', 'list', 'watch']) expect(asks({ namespace, resource, verb })).toContain('is the platform’s')
  })

  test.each(['exec', 'attach', 'portforward', 'proxy', 'ephemeralcontainers'])('nobody gets into a pod by %s', subresource => {
    for (const verb of ['create', 'get', 'patch'])
      expect(asks({ namespace, resource: 'pods', subresource, verb, name: 'x' })).toBeDefined()
  })

  test('an ordinary Secret there is denied, too', () => {
    for (const verb of ['patch', 'update', 'delete']) expect(asks({ namespace, verb, name: 'github-app-key' })).toBeDefined()
  })

  test.each([
    ['', 'configmaps', 'sekisho-authorizer-access'],
    ['', 'pods', ''],
    ['', 'secrets', ''],
    ['', 'serviceaccounts', ''],
    ['apps', 'deployments', 'sekisho-authorizer'],
    ['batch', 'jobs', ''],
    ['discovery.k8s.io', 'endpointslices', ''],
    ['networking.k8s.io', 'networkpolicies', 'sekisho-authorizer'],
    ['rbac.authorization.k8s.io', 'rolebindings', ''],
  ])('nobody else writes %s/%s, and so comes to read', (group, resource, name) => {
    for (const verb of ['create', 'update', 'patch', 'delete', 'deletecollection'])
      expect(asks({ namespace, group, resource, verb, name })).toBeDefined()
    expect(asks({ namespace, group, resource, verb: 'patch', subresource: 'scale', name })).toBeDefined()
    expect(asks({ group, resource, verb: 'create', name }), 'elsewhere').toBeUndefined()
  })

  test('Halts of the platform are left to RBAC, and no other kind', () => {
    const { group, plural } = halt
    for (const verb of ['get', 'list', 'watch', 'create', 'patch'])
      expect(asks({ namespace, group, resource: plural, verb })).toBeUndefined()
    expect(asks({ namespace, group, resource: 'installations', verb: 'list' })).toBeDefined()
    expect(asks({ namespace, group: 'example.com', resource: plural, verb: 'list' })).toBeDefined()
  })

  test('what others write about pods, the namespace itself, and what auditors compare are left to RBAC and admission', () => {
    expect(asks({ namespace, resource: 'events', verb: 'create' })).toBeUndefined()
    expect(asks({ namespace, resource: 'pods', subresource: 'status', verb: 'patch', name: 'x' })).toBeUndefined()
    expect(asks({ namespace, group: 'crd.projectcalico.org', resource: 'workloadendpoints', verb: 'create' })).toBeUndefined()
    expect(asks({ namespace, group: 'crd.projectcalico.org', resource: 'workloadendpoints', verb: 'list' })).toBeDefined()
    expect(asks({ namespace, resource: 'namespaces', name: namespace })).toBeUndefined()
    expect(asks({ namespace, resource: 'configmaps', name: 'sekisho-audit-checkpoints' })).toBeUndefined()
    expect(asks({ namespace, resource: 'secrets', name: 'sekisho-audit-checkpoints' })).toBeDefined()
    expect(asks({ namespace, resource: 'configmaps', verb: 'patch', name: 'sekisho-audit-checkpoints' })).toBeDefined()
    expect(asks({ namespace, resource: 'configmaps', verb: 'list' })).toBeDefined()
  })
})

test('one name in all namespaces is no name: it may be that of an App key', () => {
  for (const verb of ['list', 'watch'])
    for (const name of ['github-app-key', 'build-secrets-1', 'plain'])
      expect(asks({ verb, namespace: '', name })).toContain('all Secrets in all namespaces')
  expect(asks({ verb: 'list', namespace: 'tools', name: 'plain' })).toBeUndefined()
})

test('pods of the platform are evicted, within its budgets, by whom RBAC allows to drain a node', () => {
  expect(
    asks({ namespace: 'sekisho-system', resource: 'pods', subresource: 'eviction', verb: 'create', name: 'x' }),
  ).toBeUndefined()
})

describe('named subjects', () => {
  const named = [
    { user: 'ada', groups: [] },
    { user: 'grace', groups: ['sre'] },
    { user: 'system:serviceaccount:monitoring:prometheus', groups: [] },
    { user: 'system:serviceaccount:sekisho-system:sekisho-controllers', groups: [] },
    { user: 'system:serviceaccount:sekisho-system:sekisho', groups: [] },
    { user: 'system:serviceaccount:kpack:controller', groups: [] },
    { user: 'system:kube-controller-manager', groups: [] },
    { user: 'system:serviceaccount:kube-system:namespace-controller', groups: ['system:serviceaccounts:kube-system'] },
    { user: 'system:node:n1', groups: ['system:nodes'] },
  ]

  test.each(named)('$user goes on', who => {
    expect(asks({ verb: 'list', namespace: '' }, who)).toBeUndefined()
    expect(asks({ name: 'appsecret-shop' }, who)).toBeUndefined()
    expect(asks({ namespace: 'sekisho-system', resource: 'pods' }, who)).toBeUndefined()
  })

  test.each(['sekisho-wall-probe', 'default'])('the ServiceAccount %s of the platform is none', name => {
    const user = `system:serviceaccount:sekisho-system:${name}`
    expect(asks({ name: 'ghtok-x' }, { user, groups: ['system:serviceaccounts:sekisho-system'] })).toBeDefined()
  })

  test('a user or group that is only spelled alike is none', () => {
    for (const user of ['Ada', 'ada ', 'system:serviceaccount:kpack:controllers', 'system:serviceaccount:kube-system:x'])
      expect(asks({ name: 'ghtok-x' }, { user, groups: ['system:nodes:x'] })).toBeDefined()
  })

  test('nobody becomes one by impersonation', () => {
    const impersonate = (asked: Asked) => asks({ verb: 'impersonate', namespace: '', ...asked })
    for (const name of ['ada', 'system:kube-controller-manager', 'system:node:n1', 'system:serviceaccount:kube-system:x'])
      expect(impersonate({ resource: 'users', name })).toContain('nobody else acts in that name')
    for (const name of ['sre', 'system:masters', 'system:nodes', 'system:serviceaccounts:kube-system'])
      expect(impersonate({ resource: 'groups', name })).toBeDefined()
    const accounts = [
      ['sekisho-system', 'sekisho-controllers'],
      ['kube-system', 'anything'],
      ['monitoring', 'prometheus'],
    ]
    for (const [namespace = '', name = ''] of accounts)
      for (const verb of ['impersonate', 'impersonate:serviceaccount'])
        expect(impersonate({ verb, resource: 'serviceaccounts', namespace, name })).toBeDefined()
    expect(impersonate({ verb: 'impersonate:arbitrary-node', resource: 'nodes', name: '*' })).toBeDefined()
    expect(impersonate({ resource: 'users', name: 'bob' })).toBeUndefined()
    expect(impersonate({ resource: 'serviceaccounts', namespace: 'globex', name: 'default' })).toBeUndefined()
    expect(impersonate({ resource: 'userextras', group: 'authentication.k8s.io', name: 'x' })).toBeUndefined()
  })

  test('nobody gets a token of one', () => {
    const token = (namespace: string, name: string) =>
      asks({ verb: 'create', resource: 'serviceaccounts', subresource: 'token', namespace, name })
    expect(token('sekisho-system', 'sekisho-controllers')).toContain('tokens of the ServiceAccount')
    expect(token('kube-system', 'generic-garbage-collector')).toBeDefined()
    expect(token('globex', 'default')).toBeUndefined()
  })
})

test('about a request for no resource it has no opinion', () => {
  expect(decide({ ...holder, resource: undefined }, access)).toBeUndefined()
})

test('whatever else is asked, a reserved Secret is read by nobody who is not named', () => {
  const asked = fc.record({
    verb: fc
      .string()
      .filter(verb => verb !== 'create' && (!verb.startsWith('impersonate') || verb.startsWith('impersonate-on:'))),
    namespace: fc.string(),
    subresource: fc.string(),
    name: fc.tuple(fc.constantFrom(...reservedSecretPrefixes), fc.string()).map(parts => parts.join('')),
  })
  fc.assert(fc.property(asked, one => asks(one) !== undefined))
})
