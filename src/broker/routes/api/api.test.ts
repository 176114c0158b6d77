import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { movableClock, openTestStore, type TestStore } from '../../../../test/fixtures/databases.ts'
import { groups } from '../../../api/names.ts'
import { type Tenant, tenant as tenantKind } from '../../../api/tenancy/tenant.ts'
import type { IdentityClaims } from '../../../identity/verify-id-token.ts'
import type { Cache } from '../../../kube/cache/object-cache.ts'
import { AppError } from '../../../lib/errors.ts'
import { silentLog } from '../../../lib/testing/silent-log.ts'
import { createWebServer, type WebServer } from '../../../web/server.ts'
import { createAuditReaders } from '../../auditors/audit-readers.ts'
import { registerApi } from './index.ts'

const host = 'github.com'
const clock = movableClock()
let store: TestStore
let server: WebServer
let away = false

function tenant(name: string, id: number, createdAt: Date): Tenant {
  return {
    apiVersion: tenantKind.apiVersion,
    kind: tenantKind.kind,
    metadata: { name, creationTimestamp: createdAt.toISOString() },
    spec: {
      account: { host, id, login: name, type: 'Organization' },
      namespace: name,
      roles: [
        { role: 'admin', subject: { type: 'Owners' } },
        { role: 'viewer', subject: { type: 'Members' } },
      ],
    },
  }
}

function identity(userId: number, ...held: readonly string[]): IdentityClaims {
  const subject = `github|${host}|${userId}`
  return {
    subject,
    host,
    userId,
    login: 'x',
    groups: held,
    tokenId: undefined,
    expiresAt: new Date(clock.now().getTime() + 600_000),
  }
}

const people: Readonly<Record<string, IdentityClaims>> = {
  admin: identity(1),
  owner: identity(2, groups.owners(host, 7), groups.members(host, 7)),
  member: identity(3, groups.members(host, 7)),
  both: identity(4, groups.owners(host, 7), groups.owners(host, 8)),
}

beforeAll(async () => {
  store = await openTestStore({ dataFolder: 'memory://' }, clock)
  const record = (namespace: string, reason: string) =>
    store.audit.append({
      action: 'grant.decided',
      actor: 'sekisho:test',
      namespace,
      object: 'x',
      outcome: 'allowed',
      reason,
      details: {},
    })
  await record('acme', 'of the tenant that had this name before')
  clock.advance(60)
  const tenants = [tenant('acme', 7, clock.now()), tenant('globex', 8, clock.now())]
  await record('acme', 'of acme')
  await record('globex', 'of globex')
  server = await createWebServer({ log: silentLog })
  // As RBAC would answer: whatever the roles of Tenants say.
  const allowed = [`github|${host}|1 `, `github|${host}|2 acme`, `github|${host}|4 acme`, `github|${host}|4 globex`]
  const auditReaders = createAuditReaders({
    reviews: {
      allows: async (who, { namespace = '' }) => {
        if (away) throw new AppError('unavailable', 'away')
        return 'subject' in who && [namespace, ''].some(one => allowed.includes(`${who.subject} ${one}`))
      },
    },
    kube: { get: async () => expect.unreachable() },
    tenants: { list: () => tenants },
    clock,
  })
  registerApi(server, {
    auditReaders,
    serviceAccounts: { identify: async () => undefined },
    tenants: { list: () => tenants } as unknown as Cache<Tenant>,
    verifyIdToken: async token => people[token.replace('token-of-the-person-', '')] ?? expect.unreachable(),
    clock,
    store,
    platformAdmins: { includes: async ({ subject }) => subject === `github|${host}|1` },
    settings: {
      publicUrl: new URL('https://sekisho.example.com'),
      apiServerUrl: new URL('https://kubernetes.example.com:6443/clusters/one/'),
      apiServerAuthorityPath: undefined,
    },
    issuerKeys: { sign: async () => 'signed', publicKeys: { keys: [] } },
    losses: { kube: { get: async () => undefined } },
  })
})

afterAll(async () => {
  await server?.close()
  await store?.close()
})

async function ask(who: string, path: string) {
  const answer = await server.inject({ url: path, headers: { authorization: `Bearer token-of-the-person-${who}` } })
  const body = answer.json()
  return { status: answer.statusCode, body, reasons: body.entries?.map((entry: { readonly reason: string }) => entry.reason) }
}

describe('the audit log', () => {
  test('a platform admin reads all of it', async () => {
    const all = ['of globex', 'of acme', 'of the tenant that had this name before']
    expect((await ask('admin', '/api/v1/audit')).reasons).toEqual(all)
    expect((await ask('admin', '/api/v1/audit?namespace=acme')).reasons).toEqual(all.slice(1))
  })

  test('a tenant admin reads the entries of their tenant, and none of a tenant that had its name before', async () => {
    for (const query of ['', '?namespace=acme', '?after=0'])
      expect((await ask('owner', `/api/v1/audit${query}`)).reasons).toEqual(['of acme'])
    for (const query of ['?namespace=globex', '?namespace=kube-system'])
      expect(await ask('owner', `/api/v1/audit${query}`)).toMatchObject({ status: 404 })
    expect((await ask('owner', '/api/v1/audit/head')).status).toBe(404)
  })

  test('filters narrow what may be read, and never widen it', async () => {
    const times = (await ask('admin', '/api/v1/audit')).body.entries.map(({ at }: { readonly at: string }) => at)
    expect((await ask('admin', `/api/v1/audit?since=${times[0]}`)).reasons).toEqual(['of globex', 'of acme'])
    for (const query of ['since=2000-01-01T00:00:00Z', 'outcome=allowed', 'object=x'])
      expect((await ask('owner', `/api/v1/audit?${query}`)).reasons).toEqual(['of acme'])
    for (const query of [
      'since=2100-01-01T00:00:00Z',
      'until=2000-01-01T00:00:00Z',
      'outcome=denied',
      'object=y',
      'repository=1',
      'uid=y',
    ])
      expect((await ask('owner', `/api/v1/audit?${query}`)).reasons).toEqual([])
    for (const query of [
      'since=yesterday',
      'since=2000-13-01T00:00:00Z',
      'outcome=maybe',
      'repository=acme',
      'repository=1;2',
      'hashedToken=x',
    ])
      expect(await ask('owner', `/api/v1/audit?${encodeURI(query)}`)).toMatchObject({ status: 400 })
  })

  test('an admin of two tenants has to name one; a person who is admin of none gets not_found', async () => {
    expect((await ask('both', '/api/v1/audit')).body.error.message).toContain('acme, globex')
    expect((await ask('both', '/api/v1/audit?namespace=globex')).reasons).toEqual(['of globex'])
    expect((await ask('member', '/api/v1/audit?namespace=acme')).status).toBe(404)
  })

  test('without an answer of the API server nobody reads anything', async () => {
    away = true
    for (const path of ['', '?namespace=acme', '/stream', '/head', '/checkpoints', '/names?person=x'])
      for (const who of ['admin', 'owner']) {
        const { status, body } = await ask(who, `/api/v1/audit${path}`)
        expect([status, Object.keys(body)], path).toEqual([503, ['error']])
      }
    away = false
  })
})

test('the URL of the API server is the one that the operator configured, with its path', async () => {
  expect((await ask('member', '/api/v1/cluster')).body).toEqual({
    server: 'https://kubernetes.example.com:6443/clusters/one',
    certificateAuthority: null,
  })
})
