// What the audit log of an API server says about the rights that were used.
import { describe, expect, test } from 'vitest'
import { callsIn, uncovered, unused } from './calls.ts'

type Target = Readonly<Record<string, string>>

function line(verb: string, objectRef: Target, more: object = {}): string {
  const user = { username: 'system:serviceaccount:sekisho-system:sekisho-controllers' }
  return JSON.stringify({ stage: 'ResponseComplete', verb, user, objectRef, responseStatus: { code: 200 }, ...more })
}

const deployment = { resource: 'deployments', apiGroup: 'apps', namespace: 'acme', name: 'web' }

describe('the calls in an audit log', () => {
  test('are those of the platform, each once; an apply that made an object is a create, too', () => {
    const made = line('patch', deployment, { responseStatus: { code: 201 } })
    const other = line('get', deployment, { user: { username: 'system:admin' } })
    expect(callsIn([made, made, other, 'not JSON system:serviceaccount:sekisho-system:', ''])).toEqual([
      { account: 'sekisho-controllers', verb: 'patch', group: 'apps', resource: 'deployments', where: 'tenant', name: 'web' },
      { account: 'sekisho-controllers', verb: 'create', group: 'apps', resource: 'deployments', where: 'tenant', name: 'web' },
    ])
  })

  test('are not those that must be refused: of an attack with a token of the platform, of the probe of the walls', () => {
    expect(callsIn([line('delete', deployment, { userAgent: 'sekisho/controllers' })])).toHaveLength(1)
    expect(callsIn([line('delete', deployment, { userAgent: 'attack' })])).toEqual([])
    const probe = { username: 'system:serviceaccount:sekisho-system:sekisho-wall-probe' }
    expect(callsIn([line('delete', deployment, { user: probe })])).toEqual([])
    const by = (query: string) => callsIn([line('create', deployment, { requestURI: `/apis/apps/v1/deployments?${query}` })])
    expect(by('fieldManager=sekisho.dev%2Fwall-probe&dryRun=All')).toEqual([])
    expect(by('fieldManager=sekisho.dev%2Fwall-probe')).toHaveLength(1)
    expect(by('fieldManager=sekisho.dev%2Fapplication&dryRun=All')).toHaveLength(1)
  })

  test.each([
    ['cluster', line('create', { resource: 'namespaces', namespace: 'acme', name: 'acme' })],
    ['tenant', line('delete', { resource: 'namespaces', namespace: 'acme', name: 'acme' })],
    ['cluster', line('list', { resource: 'pods' })],
    ['platform', line('get', { resource: 'secrets', namespace: 'sekisho-system', name: 'x' })],
    ['default', line('patch', { resource: 'events', namespace: 'default', name: 'x' })],
  ])('are placed: %s', (where, text) => {
    expect(callsIn([text])[0]?.where).toBe(where)
  })
})

describe('a call without its verb', () => {
  const of = (verb: string, target: Target): number => uncovered(callsIn([line(verb, target)])).length

  test.each([
    ['another verb', 'update', deployment],
    ['another kind', 'get', { ...deployment, resource: 'statefulsets' }],
    ['a subresource', 'patch', { ...deployment, subresource: 'scale' }],
    ['the platform’s namespace', 'patch', { ...deployment, namespace: 'sekisho-system' }],
    ['another name', 'patch', { resource: 'secrets', namespace: 'acme', name: 'db' }],
    ['a list of Secrets', 'list', { resource: 'secrets', namespace: 'sekisho-system' }],
  ])('is found: %s', (_what, verb, target) => {
    expect(of(verb, target)).toBe(1)
  })

  test('is not a call that has it', () => {
    expect(of('patch', deployment)).toBe(0)
    expect(of('get', { resource: 'pods', subresource: 'log', namespace: 'acme-build', name: 'x' })).toBe(0)
    expect(of('patch', { resource: 'secrets', namespace: 'acme', name: 'sekisho-registry-pull' })).toBe(0)
  })
})

test('a verb that nobody used is named; ServiceAccounts that sent nothing are left out', () => {
  const found = unused(callsIn([line('patch', deployment)]))
  expect(found).toContain('sekisho-controllers: delete apps/deployments in application')
  expect(found).not.toContain('sekisho-controllers: patch apps/deployments in application')
  expect(found.filter(text => !text.startsWith('sekisho-controllers: '))).toEqual([])
})

test('what the programs used under their own accounts, the account of the standalone form uses, which runs them all', () => {
  const user = { username: 'system:serviceaccount:sekisho-system:sekisho' }
  const used = [line('patch', deployment), line('get', { ...deployment, name: 'other' }, { user })]
  const found = unused(callsIn(used))
  expect(found).not.toContain('sekisho: patch apps/deployments in application')
  expect(found).toContain('sekisho: delete apps/deployments in application')
  expect(found).toContain('sekisho-controllers: get apps/deployments in application')
})
