// Halts on a real API server with the GitHub emulator: what is live is revoked at GitHub, nothing new is delivered while one
// stands, and what was decided before holds again when it is lifted, with the people in the audit log.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Halt, halt } from '../../src/api/github/halt.ts'
import { repositoryGrant } from '../../src/api/github/repository-grant.ts'
import { tenant } from '../../src/api/tenancy/tenant.ts'
import { isKubeError } from '../../src/kube/client/errors.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { readyReason } from '../fixtures/application-fixture.ts'
import { quiet } from '../fixtures/quiet.ts'
import { type DeskEnvironment, startDeskEnvironment, type TenantFixture, withTenant } from '../fixtures/token-desk-fixture.ts'

let environment: DeskEnvironment
beforeAll(async () => {
  environment = await startDeskEnvironment()
})
afterAll(() => environment?.stop())

const host = 'github.localhost'
const olivia = `github|${host}|1001`
const fieldManager = 'test'

async function readyTenant(): Promise<TenantFixture> {
  const fixture = await withTenant(environment)
  await fixture.applyTenant()
  await readyReason(fixture.client, tenant, { name: fixture.namespace }, 'NamespacesReady')
  await fixture.bind()
  return fixture
}

async function approvedGrant(fixture: TenantFixture, name = 'read-shop') {
  await fixture.requestGrant(name, 'dave')
  return readyReason(fixture.client, repositoryGrant, { namespace: fixture.namespace, name }, 'Approved')
}

/** The token that a pod under the ServiceAccount of this name gets under the grant. */
function tokenOf(fixture: TenantFixture, grant: Awaited<ReturnType<typeof approvedGrant>>, uid = 'runner-uid') {
  const subject = { kind: 'ServiceAccount', namespace: fixture.namespace, name: 'runner', uid }
  return fixture.desk.request({ grant, subject, actor: 'test' })
}

async function status(fixture: TenantFixture, token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` }
  return (await fetch(`${fixture.endpoints.api}/repos/acme/shop`, { headers })).status
}

function made(fixture: TenantFixture, name: string, target: Halt['spec']['target'], change: object = {}): Promise<Halt> {
  const { apiVersion, kind } = halt
  const spec = { target, reason: 'a test stops it', requestedBy: olivia, ...change } as Halt['spec']
  return fixture.client.create(
    halt,
    { apiVersion, kind, metadata: { name, namespace: fixture.namespace }, spec },
    { fieldManager },
  )
}

function lift(fixture: TenantFixture, name: string) {
  const patch = { spec: { lifted: { by: olivia, reason: 'found and mended' } } }
  return fixture.client.mergePatch(halt, { namespace: fixture.namespace, name }, patch, { fieldManager })
}

const gone = (fixture: TenantFixture, name: string) =>
  waitUntil('the Halt is gone', async () =>
    (await fixture.client.get(halt, { namespace: fixture.namespace, name })) ? undefined : true,
  )

const recorded = async ({ namespace }: TenantFixture, action: 'halt.began' | 'halt.lifted') =>
  (await environment.store.audit.list({ namespace, action, limit: 10 })).map(({ actor, object, reason }) => ({
    actor,
    object,
    reason,
  }))

describe('a Halt', () => {
  test.each<[string, (namespace: string) => Halt['spec']['target']]>([
    ['the grant', namespace => ({ type: 'Grant', grant: { namespace, name: 'read-shop' } })],
    ['the repository', () => ({ type: 'Repository', repository: { host, id: 4001 } })],
    ['the person', () => ({ type: 'Person', person: { host, id: 1002 } })],
    ['the tenant', namespace => ({ type: 'Tenant', tenant: { name: namespace } })],
    ['everything', () => ({ type: 'Everything' })],
  ])('of %s ends its tokens, refuses new ones, and gives way when it is lifted', async (_what, targetOf) => {
    const fixture = await readyTenant()
    const { client, namespace } = fixture
    const grant = await approvedGrant(fixture)
    const { token } = await tokenOf(fixture, grant)
    expect(await status(fixture, token.reveal())).toBe(200)

    await made(fixture, 'stop', targetOf(namespace))
    const enforced = await readyReason(client, halt, { namespace, name: 'stop' }, 'Enforced')
    expect(await status(fixture, token.reveal())).toBe(401)
    expect(enforced.status).toMatchObject({
      tokens: { revoked: 1, expired: 0, left: 0 },
      grants: { count: 1, names: [`${namespace}/read-shop`] },
    })
    expect(enforced.status?.answeredAt).toBeDefined()
    await expect(tokenOf(fixture, grant)).rejects.toMatchObject({
      code: 'forbidden',
      reason: 'Halted',
      message: expect.stringContaining(`Halt ${namespace}/stop`),
    })
    await readyReason(client, repositoryGrant, { namespace, name: 'read-shop' }, 'Halted')

    // A second reconcile writes nothing.
    await quiet(fixture)
    const before = fixture.writes.length
    await client.mergePatch(halt, { namespace, name: 'stop' }, { metadata: { labels: { touched: 'yes' } } }, { fieldManager })
    await quiet(fixture)
    expect(fixture.writes.slice(before)).toEqual([])

    await lift(fixture, 'stop')
    await gone(fixture, 'stop')
    await readyReason(client, repositoryGrant, { namespace, name: 'read-shop' }, 'Approved')
    expect(await status(fixture, (await tokenOf(fixture, grant)).token.reveal())).toBe(200)
    const object = `Halt/${namespace}/stop`
    expect(await recorded(fixture, 'halt.began')).toEqual([{ actor: olivia, object, reason: 'a test stops it' }])
    expect(await recorded(fixture, 'halt.lifted')).toEqual([{ actor: olivia, object, reason: 'found and mended' }])
  })

  test('of a token by its hash ends that one, and its subject gets no other under the grant', async () => {
    const fixture = await readyTenant()
    const { client, namespace } = fixture
    const [first, second] = [await approvedGrant(fixture, 'first'), await approvedGrant(fixture, 'second')]
    const leaked = (await tokenOf(fixture, first)).token.reveal()
    const other = (await tokenOf(fixture, second)).token.reveal()
    const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(leaked))
    await made(fixture, 'leak', { type: 'Token', token: { hash: Buffer.from(digest).toString('base64') } })
    const enforced = await readyReason(client, halt, { namespace, name: 'leak' }, 'Enforced')
    expect([await status(fixture, leaked), await status(fixture, other)]).toEqual([401, 200])
    expect(enforced.status?.subject).toEqual({ namespace, grant: 'first', kind: 'ServiceAccount', name: 'runner' })
    await expect(tokenOf(fixture, first, 'made-again')).rejects.toMatchObject({ reason: 'Halted' })
    await tokenOf(fixture, second)
  })

  test('stands also against a grant that is deleted and made again with its name', async () => {
    const fixture = await readyTenant()
    const { client, namespace } = fixture
    await approvedGrant(fixture)
    await made(fixture, 'stop', { type: 'Grant', grant: { namespace, name: 'read-shop' } })
    await client.delete(repositoryGrant, { namespace, name: 'read-shop' })
    await waitUntil('the grant is gone', async () =>
      (await client.get(repositoryGrant, { namespace, name: 'read-shop' })) ? undefined : true,
    )
    const again = await fixture.requestGrant('read-shop', 'dave')
    await readyReason(client, repositoryGrant, { namespace, name: 'read-shop' }, 'Halted')
    await expect(tokenOf(fixture, again)).rejects.toMatchObject({ reason: 'Halted' })
  })

  test('two of one thing are two: lifting one lifts nothing', async () => {
    const fixture = await readyTenant()
    const grant = await approvedGrant(fixture)
    await made(fixture, 'one', { type: 'Everything' })
    await made(fixture, 'two', { type: 'Repository', repository: { host, id: 4001 } })
    await lift(fixture, 'one')
    await gone(fixture, 'one')
    await expect(tokenOf(fixture, grant)).rejects.toMatchObject({ message: expect.stringContaining('/two ') })
  })

  test('requests that are in progress while it arrives get nothing that works afterwards', async () => {
    const fixture = await readyTenant()
    const { client, namespace } = fixture
    const grant = await approvedGrant(fixture)
    const asked = Array.from({ length: 12 }, (_, index) => tokenOf(fixture, grant, `pod-${index}`).catch(() => undefined))
    await made(fixture, 'stop', { type: 'Everything' })
    const delivered = (await Promise.all(asked)).flatMap(one => (one === undefined ? [] : [one.token.reveal()]))
    await readyReason(client, halt, { namespace, name: 'stop' }, 'Enforced')
    for (const token of delivered) expect(await status(fixture, token)).toBe(401)
    expect(await environment.store.tokens.liveBy({ namespace })).toEqual([])
  })

  test('as a dry run says what would end, and ends nothing', async () => {
    const fixture = await readyTenant()
    const { client, namespace } = fixture
    const grant = await approvedGrant(fixture)
    const { token } = await tokenOf(fixture, grant)
    await made(fixture, 'ask', { type: 'Everything' }, { dryRun: true })
    const answered = await readyReason(client, halt, { namespace, name: 'ask' }, 'DryRun')
    expect(answered.status).toMatchObject({ tokens: { left: 1 }, grants: { count: 1 } })
    expect(await status(fixture, token.reveal())).toBe(200)
    await tokenOf(fixture, grant)
  })
})

describe('the API server refuses', () => {
  const person = { type: 'Person', person: { host, id: 1002 } } as const
  test.each<[string, object]>([
    ['a target without its member', { target: { type: 'Person' } }],
    ['a target with the member of another one', { target: { type: 'Everything', person: person.person } }],
    [
      'a token by both id and hash',
      { target: { type: 'Token', token: { id: '00000000-0000-4000-8000-000000000000', hash: `${'A'.repeat(43)}=` } } },
    ],
    ['a token itself in place of its hash', { target: { type: 'Token', token: { hash: `ghs_${'a'.repeat(36)}` } } }],
    ['a reason with an escape sequence', { reason: 'all is well\u001b[2J' }],
    ['a reason of two lines', { reason: 'one\ntwo' }],
    ['a reason that turns its direction', { reason: 'all \u202e is well' }],
    ['a reason that is too long', { reason: 'x'.repeat(501) }],
    ['no reason', { reason: '' }],
    ['pods at zero for a person', { target: person, workloads: 'ScaleToZero' }],
  ])('%s', async (_what, change) => {
    const fixture = await withTenant(environment)
    await fixture.applyTenant()
    await readyReason(fixture.client, tenant, { name: fixture.namespace }, 'NamespacesReady')
    const refused = made(fixture, 'stop', { type: 'Everything' }, change)
    await expect(refused).rejects.toSatisfy(error => isKubeError(error, 422))
  })

  test('every change but lifting, which happens once', async () => {
    const fixture = await withTenant(environment)
    await fixture.applyTenant()
    await readyReason(fixture.client, tenant, { name: fixture.namespace }, 'NamespacesReady')
    const { client, namespace } = fixture
    // Held, so that the platform does not delete it.
    const key = { namespace, name: 'stop' }
    await made(fixture, 'stop', { type: 'Everything' })
    await client.mergePatch(halt, key, { metadata: { finalizers: ['sekisho.dev/held-by-the-test'] } }, { fieldManager })
    const patch = (spec: object) => client.mergePatch(halt, key, { spec }, { fieldManager, dryRun: true })
    for (const spec of [
      { reason: 'another one' },
      { target: person },
      { dryRun: true },
      { requestedBy: 'x' },
      { workloads: 'ScaleToZero' },
    ])
      await expect(patch(spec), JSON.stringify(spec)).rejects.toSatisfy(error => isKubeError(error, 422))
    await lift(fixture, 'stop')
    await expect(patch({ lifted: null })).rejects.toSatisfy(error => isKubeError(error, 422))
    await client.mergePatch(halt, key, { metadata: { finalizers: [] } }, { fieldManager })
  })
})
