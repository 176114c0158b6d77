// Policies on a real API server with the GitHub emulator: what they deny is denied by their name, a live token ends with the
// policy that denies it, what both the platform and a tenant allow is approved, and the schemas refuse what has no meaning.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clusterGrantPolicy, type GrantPolicy, grantPolicy } from '../../src/api/github/grant-policy.ts'
import { repositoryGrant } from '../../src/api/github/repository-grant.ts'
import { tenant } from '../../src/api/tenancy/tenant.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { readyReason } from '../fixtures/application-fixture.ts'
import { quiet } from '../fixtures/quiet.ts'
import { type DeskEnvironment, startDeskEnvironment, type TenantFixture, withTenant } from '../fixtures/token-desk-fixture.ts'

let environment: DeskEnvironment
beforeAll(async () => {
  environment = await startDeskEnvironment()
})
afterAll(() => environment?.stop())

const fieldManager = 'test'
type Rules = readonly object[]

async function readyTenant(permissions: Readonly<Record<string, string>> = { metadata: 'read' }): Promise<TenantFixture> {
  const fixture = await withTenant(environment)
  await fixture.applyTenant()
  await readyReason(fixture.client, tenant, { name: fixture.namespace }, 'NamespacesReady')
  await fixture.bind({ permissions })
  return fixture
}

function write({ client, namespace }: TenantFixture, rules: Rules, spec: object = {}): Promise<GrantPolicy> {
  const { apiVersion, kind } = grantPolicy
  const object = { apiVersion, kind, metadata: { name: 'rules', namespace }, spec: { rules, ...spec } } as unknown as GrantPolicy
  return client.apply(grantPolicy, object, { fieldManager, force: true })
}

/** For this tenant's controllers only: they see the one of this name. */
function cap({ client, namespace }: TenantFixture, rules: Rules) {
  const { apiVersion, kind } = clusterGrantPolicy
  const object = { apiVersion, kind, metadata: { name: namespace }, spec: { rules } } as unknown as GrantPolicy
  return client.apply(clusterGrantPolicy, object, { fieldManager, force: true })
}

const grantIs = ({ client, namespace }: TenantFixture, reason: string, name = 'read-shop') =>
  readyReason(client, repositoryGrant, { namespace, name }, reason)

const denyShop = { name: 'no-shop', effect: 'Deny', repositories: ['ACME/sh*'], permissions: { contents: 'read' } }

describe('a GrantPolicy', () => {
  test('denies by its name what is live, ends its token, and gives way when it is deleted', async () => {
    const fixture = await readyTenant()
    const { client, namespace } = fixture
    await fixture.requestGrant('read-shop', 'dave')
    const grant = await grantIs(fixture, 'Approved')
    const subject = { kind: 'ServiceAccount', namespace, name: 'runner', uid: 'runner-uid' }
    const { token } = await fixture.desk.request({ grant, subject, actor: 'test' })
    const answer = async () =>
      (await fetch(`${fixture.endpoints.api}/repos/acme/shop`, { headers: { authorization: `Bearer ${token.reveal()}` } })).status
    expect(await answer()).toBe(200)

    await write(fixture, [denyShop])
    const denied = await grantIs(fixture, 'DeniedByGrantPolicy')
    expect(denied.status).toMatchObject({ decision: 'Denied', rule: 'GrantPolicy/rules/no-shop' })
    await waitUntil('the token is revoked', async () => ((await answer()) === 401 ? true : undefined))
    await expect(fixture.desk.request({ grant: denied, subject, actor: 'test' })).rejects.toMatchObject({
      reason: 'GrantNotApproved',
    })
    await readyReason(client, grantPolicy, { namespace, name: 'rules' }, 'Enforced')

    // A second reconcile writes nothing.
    await quiet(fixture)
    const before = fixture.writes.length
    await client.mergePatch(
      repositoryGrant,
      { namespace, name: 'read-shop' },
      { metadata: { labels: { a: 'b' } } },
      { fieldManager },
    )
    await quiet(fixture)
    expect(fixture.writes.slice(before)).toEqual([])

    await client.delete(grantPolicy, { namespace, name: 'rules' })
    const again = await grantIs(fixture, 'Approved')
    expect(again.status?.observedPolicies).toBeUndefined()
    const decisions = await environment.store.audit.list({ namespace, action: 'grant.decided', limit: 10 })
    expect(decisions.map(({ outcome }) => outcome)).toEqual(['allowed', 'denied', 'allowed'])
  })

  test('says how long tokens live: a shorter time ends those that live, and what GitHub has ends with it', async () => {
    const fixture = await readyTenant()
    const { client, namespace } = fixture
    await fixture.requestGrant('read-shop', 'dave')
    const grant = await grantIs(fixture, 'Approved')
    const subject = { kind: 'ServiceAccount', namespace, name: 'runner', uid: 'runner-uid' }
    const take = () => fixture.desk.request({ grant, subject, actor: 'test' })
    const answer = async ({ token }: Awaited<ReturnType<typeof take>>) =>
      (await fetch(`${fixture.endpoints.api}/repos/acme/shop`, { headers: { authorization: `Bearer ${token.reveal()}` } })).status
    const lifetimes = (seconds: number) =>
      waitUntil(`tokens live for ${seconds} s`, async () => {
        const now = await client.get(repositoryGrant, { namespace, name: 'read-shop' })
        return now?.status?.tokenLifetimes?.[0]?.seconds === seconds ? now : undefined
      })
    const long = await take()
    const minutes = { name: 'minutes', effect: 'Allow', permissions: { contents: 'read' } }
    await cap(fixture, [{ ...minutes, tokenLifetimeSeconds: 300 }])
    await lifetimes(300)
    await waitUntil('the token that would have lived longer is revoked', async () =>
      (await answer(long)) === 401 ? true : undefined,
    )
    const short = await take()
    expect(short.expiresAt.getTime()).toBeLessThanOrEqual(Date.now() + 300_000)
    expect(await answer(short)).toBe(200)
    // The tenant cannot prolong what the platform caps, and can shorten it.
    await write(fixture, [{ ...minutes, tokenLifetimeSeconds: 3600 }])
    await waitUntil('the policy of the tenant counts', async () => {
      const now = await client.get(repositoryGrant, { namespace, name: 'read-shop' })
      return now?.status?.observedPolicies?.endsWith('none') === false ? now : undefined
    })
    expect((await take()).expiresAt).toEqual(short.expiresAt)
    await write(fixture, [{ ...minutes, tokenLifetimeSeconds: 60 }])
    await lifetimes(60)
    await client.delete(clusterGrantPolicy, { name: namespace })
    await write(fixture, [{ ...minutes, tokenLifetimeSeconds: 3600 }])
    await lifetimes(3600)
    expect((await take()).expiresAt.getTime()).toBeGreaterThan(Date.now() + 3_000_000)
  })

  test('that denies in any case costs no request to GitHub', async () => {
    const fixture = await readyTenant()
    await write(fixture, [denyShop])
    await readyReason(fixture.client, grantPolicy, { namespace: fixture.namespace, name: 'rules' }, 'Enforced')
    await fixture.requestGrant('read-shop', 'dave')
    const { status } = await grantIs(fixture, 'DeniedByGrantPolicy')
    expect(status?.checkedAt).toBeUndefined()
    expect(await environment.store.audit.list({ namespace: fixture.namespace, action: 'token.intended', limit: 1 })).toEqual([])
  })

  test('allows more than the platform only as far as a ClusterGrantPolicy lets it', async () => {
    const fixture = await readyTenant()
    const writing = { name: 'writing', effect: 'Allow', repositories: ['acme/*'], permissions: { contents: 'write' } }
    await write(fixture, [writing])
    await fixture.requestGrant('read-shop', 'dave', { permissions: { contents: 'write' } })
    const { status } = await grantIs(fixture, 'DeniedByGrantPolicy')
    expect(status?.rule).toBe('no-cluster-grant-policy-allows')
    await cap(fixture, [writing])
    const approved = await grantIs(fixture, 'Approved')
    expect(approved.status?.rule).toBe(`GrantPolicy/rules/writing,ClusterGrantPolicy/${fixture.namespace}/writing`)
    await cap(fixture, [{ ...writing, name: 'private-only', visibility: ['internal'] }])
    expect((await grantIs(fixture, 'DeniedByGrantPolicy')).status?.rule).toBe('no-cluster-grant-policy-allows')
    await fixture.client.delete(clusterGrantPolicy, { name: fixture.namespace })
  })

  test('names the refs to which a grant may push, and a change of them ends what was approved', async () => {
    const fixture = await readyTenant()
    const pushing = { name: 'tags', effect: 'Allow', permissions: { contents: 'write' }, refs: ['refs/tags/v*'] }
    await cap(fixture, [{ ...pushing, refs: ['refs/heads/*', 'refs/tags/*'] }])
    await write(fixture, [pushing])
    const asking = { permissions: { contents: 'write' }, delivery: 'GitProxy' }
    await fixture.requestGrant('tags', 'dave', { ...asking, git: { refs: ['refs/tags/v1.*'] } })
    await fixture.requestGrant('main', 'dave', { ...asking, git: { refs: ['refs/tags/v1.*', 'refs/heads/main'] } })
    await fixture.requestGrant('all', 'dave', asking)
    await fixture.requestGrant('token', 'dave', { permissions: { contents: 'write' } })
    expect((await grantIs(fixture, 'Approved', 'tags')).status?.rule).toContain('GrantPolicy/rules/tags')
    for (const [name, ref] of Object.entries({ main: 'refs/heads/main', all: 'refs/heads/*', token: 'refs/*' })) {
      const { status } = await grantIs(fixture, 'DeniedByGrantPolicy', name)
      expect(status?.conditions?.find(({ type }) => type === 'Approved')?.message).toContain(`, to push to ${ref}`)
    }
    const [record] = await environment.store.audit.list({
      namespace: fixture.namespace,
      action: 'grant.decided',
      object: `RepositoryGrant/${fixture.namespace}/tags`,
      limit: 1,
    })
    expect(record?.details).toMatchObject({ refs: ['refs/tags/v1.*'] })
    await write(fixture, [pushing, { ...pushing, name: 'frozen', effect: 'Deny', refs: ['refs/tags/v1.2'] }])
    expect((await grantIs(fixture, 'DeniedByGrantPolicy', 'tags')).status?.rule).toBe('GrantPolicy/rules/frozen')
    await fixture.client.delete(clusterGrantPolicy, { name: fixture.namespace })
  })

  test('asks GitHub about the teams and roles that it names, and approves nothing without the answer', async () => {
    const fixture = await readyTenant({ metadata: 'read', members: 'read' })
    const ofTeam = (id: number) => ({
      ...denyShop,
      name: 'team',
      requesters: [{ type: 'Team', id }],
    })
    // dave is in team 3001, which makes him a developer, and not in a team that does not exist.
    await write(fixture, [ofTeam(3001)])
    await fixture.requestGrant('read-shop', 'dave')
    expect((await grantIs(fixture, 'DeniedByGrantPolicy')).status?.rule).toBe('GrantPolicy/rules/team')
    await write(fixture, [ofTeam(9)])
    await grantIs(fixture, 'Approved')
    await write(fixture, [{ ...denyShop, name: 'role', requesters: [{ type: 'Role', role: 'developer' }] }])
    expect((await grantIs(fixture, 'DeniedByGrantPolicy')).status?.rule).toBe('GrantPolicy/rules/role')
    await write(fixture, [{ ...denyShop, name: 'role', requesters: [{ type: 'Role', role: 'admin' }] }])
    await grantIs(fixture, 'Approved')
  })

  test('that needs what GitHub does not say ends what was approved before it', async () => {
    const fixture = await readyTenant()
    await fixture.requestGrant('read-shop', 'dave')
    await grantIs(fixture, 'Approved')
    await write(fixture, [{ ...denyShop, requesters: [{ type: 'Team', id: 9 }] }])
    const { status } = await grantIs(fixture, 'GitHubUnreachable')
    expect(status?.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({
      status: 'False',
      message: expect.stringContaining('members: read'),
    })
  })

  test('in mode Audit says what it would deny, and denies nothing', async () => {
    const fixture = await readyTenant()
    await write(fixture, [denyShop], { mode: 'Audit' })
    await fixture.requestGrant('read-shop', 'dave')
    const { status } = await grantIs(fixture, 'Approved')
    expect(status?.audit).toMatchObject({ decision: 'Denied', rule: 'GrantPolicy/rules/no-shop' })
    await readyReason(fixture.client, grantPolicy, { namespace: fixture.namespace, name: 'rules' }, 'Audited')
  })
})

describe('the API server refuses', () => {
  const rule = { name: 'a', effect: 'Deny', permissions: { contents: 'read' } }
  test.each<[string, object]>([
    ['an alternation', { repositories: ['acme/a|b'] }],
    ['two stars', { repositories: ['acme/**'] }],
    ['a pattern of 4 KB', { repositories: [`acme/${'a'.repeat(4096)}`] }],
    ['a letter of another alphabet', { repositories: ['асme/shop'] }],
    ['a class of characters', { repositories: ['acme/[a-z]'] }],
    ['a pattern without an owner', { repositories: ['*'] }],
    ['an effect that does not exist', { effect: 'Notify' }],
    ['approvals of a rule that denies', { approvals: 2 }],
    ['a life of tokens of a rule that denies', { tokenLifetimeSeconds: 60 }],
    ['a life of tokens of seconds', { effect: 'Allow', tokenLifetimeSeconds: 59 }],
    ['a life of tokens beyond GitHub’s', { effect: 'Allow', tokenLifetimeSeconds: 3601 }],
    ['refs of a rule about reading something else', { permissions: { statuses: 'write' }, refs: ['refs/heads/main'] }],
    ['refs of a rule about everything', { permissions: { '*': 'read' }, refs: ['refs/heads/main'] }],
    ['refs beside branches and tags', { refs: ['refs/pull/*'] }],
    ['a ref with a class of characters', { refs: ['refs/heads/[a-z]'] }],
    ['a ref of 4 KB', { refs: [`refs/heads/${'a'.repeat(4096)}`] }],
    ['six approvals', { effect: 'RequireApproval', approvals: 6 }],
    ['no permission', { permissions: {} }],
    ['a permission that is a pattern', { permissions: { 'organization_*': 'read' } }],
    ['a person without an id', { requesters: [{ type: 'Person', name: 'dave' }] }],
    ['a role with an id', { requesters: [{ type: 'Role', role: 'admin', id: 1 }] }],
  ])('%s', async (_what, change) => {
    const fixture = await withTenant(environment)
    const { apiVersion, kind } = clusterGrantPolicy
    const name = fixture.namespace
    const object = { apiVersion, kind, metadata: { name }, spec: { rules: [{ ...rule, ...change }] } } as unknown as GrantPolicy
    await expect(fixture.client.create(clusterGrantPolicy, object, { fieldManager, dryRun: true })).rejects.toThrow(
      /Invalid value|Unsupported value|Too long|not in this version|must|belongs to/,
    )
  })

  test('ids in a ClusterGrantPolicy without their host', async () => {
    const fixture = await withTenant(environment)
    const ids = { ...rule, repositoryIds: [1] }
    await expect(cap(fixture, [ids])).rejects.toThrow('ids are unique per host only')
  })
})
