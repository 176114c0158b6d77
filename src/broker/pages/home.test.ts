// The first page says of each tenant whether it works.
import { expect, test } from 'vitest'
import type { Halt } from '../../api/github/halt.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'
import { haltObject } from '../../policy/testing/halt-object.ts'
import { homePage } from './home.ts'

const person = { host: 'github.com', userId: 1, login: 'olivia', subject: 'github|github.com|1', csrf: 'c' }
const none = { issuer: 'https://here.example', platformAdmin: false, auditor: false }
type Said = readonly [type: string, status: string, reason: string, message?: string]

function shown(...said: readonly Said[]): string {
  const conditions = said.map(([type, status, reason, message = '']) => ({ type, status, reason, message }))
  const spec = { account: { host: 'github.com', id: 7, login: 'acme', type: 'Organization' }, namespace: 'acme', roles: [] }
  const tenant = { metadata: { name: 'acme' }, spec, status: { conditions } } as unknown as Tenant
  const held = [{ tenant, role: 'admin' }] as const
  return homePage({ person, held, ...none }).toString()
}

const prepared: Said = ['Ready', 'True', 'NamespacesReady']

test('a tenant whose App was uninstalled is not ready, and the cure stands beside it', () => {
  const text = shown(prepared, [
    'GitHubAccess',
    'False',
    'InstallationNotReady',
    'Installation acme: InstallationNotFound: install it',
  ])
  expect(text).toContain('InstallationNotReady')
  expect(text).toContain('install it')
  expect(text).not.toContain('</span> ready</span>')
})

test.each<[string, readonly Said[], RegExp]>([
  ['its account can be reached', [prepared, ['GitHubAccess', 'True', 'InstallationsReady']], /sign good.*ready<\/span>/],
  ['nothing was said of its account yet', [prepared], /sign good/],
  [
    'GitHub is waited for',
    [prepared, ['GitHubAccess', 'Unknown', 'InstallationsPending']],
    /sign progress.*InstallationsPending/,
  ],
  ['its namespace is taken', [['Ready', 'False', 'NamespaceTaken', 'delete it']], /sign waiting.*NamespaceTaken.*delete it/],
  ['it is new', [], /sign progress.*Pending/],
])('%s', (_what, said, expected) => {
  expect(shown(...said)).toMatch(expected)
})

test('a tenant that is halted says who halted it, when and why; of a Halt of everything only that it is there', () => {
  const spec = { account: { host: 'github.com', id: 7, login: 'acme', type: 'Organization' }, namespace: 'acme', roles: [] }
  const tenant = { metadata: { name: 'acme' }, spec } as unknown as Tenant
  const text = (halt: Halt) => homePage({ person, held: [{ tenant, role: 'admin', halt }], ...none }).toString()
  const own = text(haltObject({ type: 'Tenant', tenant: { name: 'acme' } }))
  for (const part of ['Halted', '2026-01-01 00:00:00 UTC', 'github|github.localhost|1', 'a token leaked', 'sekisho resume stop'])
    expect(own).toContain(part)
  const everything = text(haltObject({ type: 'Everything' }))
  expect(everything).toContain('Halted')
  expect(everything).not.toContain('a token leaked')
  expect(everything).not.toContain('github|github.localhost|1')
})

test('an auditor of the platform learns how to read the log, and an admin what there is to decide', () => {
  const office = (offices: object) => homePage({ person, held: [], ...none, ...offices }).toString()
  expect(office({ auditor: true })).toContain('sekisho audit list')
  for (const path of ['/audit', '/access', '/tokens']) expect(office({ auditor: true })).toContain(`href="${path}"`)
  const ofAdmin = office({ platformAdmin: true, auditor: true })
  expect(ofAdmin).toContain('onboardings to decide')
  expect(ofAdmin).not.toContain('sekisho audit list')
  expect(office({})).not.toContain('<h2>Platform</h2>')
})
