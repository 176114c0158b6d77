// Approvals on a real API server with the GitHub emulator: a grant that waits, whose answers count, and what ends with them.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { events } from '../../src/api/builtin/index.ts'
import { type GrantApproval, grantApproval } from '../../src/api/github/grant-approval.ts'
import { type GrantPolicy, grantPolicy } from '../../src/api/github/grant-policy.ts'
import { type Halt, halt } from '../../src/api/github/halt.ts'
import { type RepositoryGrant, repositoryGrant } from '../../src/api/github/repository-grant.ts'
import { wakeAnnotation } from '../../src/api/names.ts'
import { tenant } from '../../src/api/tenancy/tenant.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { anotherSecond } from '../fixtures/another-second.ts'
import { readyReason } from '../fixtures/application-fixture.ts'
import { quiet } from '../fixtures/quiet.ts'
import { type DeskEnvironment, startDeskEnvironment, type TenantFixture, withTenant } from '../fixtures/token-desk-fixture.ts'

let environment: DeskEnvironment
beforeAll(async () => {
  environment = await startDeskEnvironment()
})
afterAll(() => environment?.stop())

const fieldManager = 'test'
const [olivia, mia] = ['github|github.localhost|1001', 'github|github.localhost|1003']

async function bound(permissions: Readonly<Record<string, string>> = { metadata: 'read' }): Promise<TenantFixture> {
  const fixture = await withTenant(environment)
  await fixture.applyTenant()
  await readyReason(fixture.client, tenant, { name: fixture.namespace }, 'NamespacesReady')
  await fixture.bind({ permissions })
  return fixture
}

/** A policy that requires so many approvals for reading the shop. */
async function policed(approvals: number, more: object = {}, permissions?: Record<string, string>): Promise<TenantFixture> {
  const fixture = await bound(permissions)
  const { client, namespace } = fixture
  const rule = { name: 'ask', effect: 'RequireApproval', approvals, permissions: { contents: 'read' }, ...more }
  const { apiVersion, kind } = grantPolicy
  const policy = { apiVersion, kind, metadata: { name: 'rules', namespace }, spec: { rules: [rule] } }
  await client.apply(grantPolicy, policy as unknown as GrantPolicy, { fieldManager, force: true })
  await readyReason(client, grantPolicy, { namespace, name: 'rules' }, 'Enforced')
  return fixture
}

type Answer = { readonly by: string; readonly answer?: 'Approve' | 'Deny'; readonly name?: string; readonly more?: object }

function answer({ client }: TenantFixture, grant: RepositoryGrant, { by, answer = 'Approve', name: own, more }: Answer) {
  const { apiVersion, kind } = grantApproval
  const { name, namespace = '', uid = '' } = grant.metadata
  const spec = {
    grant: { name, uid },
    answer,
    reason: 'a test answers',
    requestedBy: by,
    ...more,
  }
  const object = {
    apiVersion,
    kind,
    metadata: { ...(own === undefined ? { generateName: 'answer-' } : { name: own }), namespace },
    spec,
  }
  return client.create(grantApproval, object as unknown as GrantApproval, { fieldManager })
}

const grantIs = ({ client, namespace }: TenantFixture, reason: string) =>
  readyReason(client, repositoryGrant, { namespace, name: 'read-shop' }, reason)
const answerIs = ({ client }: TenantFixture, { metadata: { namespace = '', name } }: GrantApproval, reason: string) =>
  readyReason(client, grantApproval, { namespace, name }, reason)
const withdraw = ({ client }: TenantFixture, { metadata: { namespace = '', name } }: GrantApproval) =>
  client.delete(grantApproval, { namespace, name })

async function waiting(fixture: TenantFixture): Promise<RepositoryGrant> {
  await fixture.requestGrant('read-shop', 'dave')
  return grantIs(fixture, 'WaitingForApproval')
}

test('a grant waits until people enough who did not request it approve, and again when one takes it back', async () => {
  const fixture = await policed(2)
  const { namespace, client } = fixture
  const grant = await waiting(fixture)
  expect(grant.status).toMatchObject({ decision: 'Waiting', requester: { login: 'dave' } })
  const subject = { kind: 'ServiceAccount', namespace, name: 'runner', uid: 'runner-uid' }
  const request = async (of: RepositoryGrant) => (await fixture.desk.request({ grant: of, subject, actor: 'test' })).token
  await expect(request(grant)).rejects.toMatchObject({ reason: 'GrantNotApproved' })

  const own = await answer(fixture, grant, { by: grant.spec.requestedBy })
  const isGone = async ({ metadata: { name } }: GrantApproval) =>
    (await client.get(grantApproval, { namespace, name })) === undefined
  // It can never count: it does not stay.
  await waitUntil('the answer of the requester is gone', () => isGone(own))
  const bot = await answer(fixture, grant, { by: `system:serviceaccount:${namespace}:runner` })
  await answerIs(fixture, bot, 'NotAPerson')
  const first = await answer(fixture, grant, { by: olivia })
  await answerIs(fixture, first, 'Counted')
  // The same person a second time is one person: the newer answer takes the place of the first.
  await anotherSecond(first)
  const again = await answer(fixture, grant, { by: olivia })
  await answerIs(fixture, again, 'Counted')
  await waitUntil('the first answer is gone', () => isGone(first))
  const one = await waitUntil('one of two approved', async () => {
    const seen = await grantIs(fixture, 'WaitingForApproval')
    return seen.status?.observedAnswers === olivia ? seen : undefined
  })
  expect(one.status?.conditions?.find(({ type }) => type === 'Ready')?.message).toContain('1 of 2 have')

  const second = await answer(fixture, grant, { by: mia })
  const approved = await grantIs(fixture, 'Approved')
  const token = await request(approved)
  const works = async () =>
    (await fetch(`${fixture.endpoints.api}/repos/acme/shop`, { headers: { authorization: `Bearer ${token.reveal()}` } })).status
  expect(await works()).toBe(200)

  // A second reconcile writes nothing.
  await quiet(fixture)
  const before = fixture.writes.length
  const labels = { metadata: { labels: { a: 'b' } } }
  await client.mergePatch(repositoryGrant, { namespace, name: 'read-shop' }, labels, { fieldManager })
  await client.mergePatch(grantApproval, { namespace, name: again.metadata.name }, labels, { fieldManager })
  await quiet(fixture)
  expect(fixture.writes.slice(before)).toEqual([])

  await withdraw(fixture, second)
  await grantIs(fixture, 'WaitingForApproval')
  await waitUntil('the token is revoked', async () => ((await works()) === 401 ? true : undefined))
  const decisions = await environment.store.audit.list({ namespace, action: 'grant.decided', limit: 10 })
  expect(decisions.map(({ details }) => [details['decision'], details['approvedBy']])).toEqual([
    ['Waiting', undefined],
    ['Approved', [olivia, mia]],
    ['Waiting', undefined],
  ])
})

test('one who denies ends an approved grant, whoever approves; taken back, it is decided again', async () => {
  const fixture = await policed(1)
  const grant = await waiting(fixture)
  await answer(fixture, grant, { by: olivia })
  await grantIs(fixture, 'Approved')
  const denial = await answer(fixture, grant, { by: mia, answer: 'Deny' })
  const { status } = await grantIs(fixture, 'DeniedByPerson')
  expect(status?.rule).toBe(`GrantApproval/${denial.metadata.name}`)
  // The requester cannot take it out by halting who denied.
  const spec = {
    target: { type: 'Person', person: { host: 'github.localhost', id: 1003 } },
    reason: 'a test',
    requestedBy: olivia,
  }
  const halting = { apiVersion: halt.apiVersion, kind: halt.kind, metadata: { name: 'mia', namespace: fixture.namespace }, spec }
  await fixture.client.create(halt, halting as unknown as Halt, { fieldManager })
  await readyReason(fixture.client, halt, { namespace: fixture.namespace, name: 'mia' }, 'Enforced')
  await quiet(fixture)
  await grantIs(fixture, 'DeniedByPerson')
  await withdraw(fixture, denial)
  await grantIs(fixture, 'Approved')
})

const opening = { by: 'kubernetes-admin', name: 'outage', more: { breakGlass: true, lifetimeSeconds: 3600 } }

test('break-glass of a platform admin stands for everybody who is missing, loudly, and its end revokes', async () => {
  const fixture = await policed(2)
  const { client, namespace } = fixture
  const grant = await waiting(fixture)
  expect(grant.status).toMatchObject({ approvals: { required: 2, given: 0 }, requestedRepositories: [{ name: 'acme/shop' }] })
  const opened = await answer(fixture, grant, opening)
  await answerIs(fixture, opened, 'Counted')
  const approved = await grantIs(fixture, 'Approved')
  expect(approved.status?.rule).toMatch(/^GrantApproval\/outage,GrantPolicy\/rules\/ask/)
  const subject = { kind: 'ServiceAccount', namespace, name: 'runner', uid: 'runner-uid' }
  const token = (await fixture.desk.request({ grant: approved, subject, actor: 'test' })).token
  const works = async () =>
    (await fetch(`${fixture.endpoints.api}/repos/acme/shop`, { headers: { authorization: `Bearer ${token.reveal()}` } })).status
  expect(await works()).toBe(200)
  const [decision] = await environment.store.audit.list({ namespace, action: 'grant.decided', limit: 1 })
  expect(decision?.details).toMatchObject({
    decision: 'Approved',
    breakGlass: { by: 'kubernetes-admin', reason: 'a test answers' },
  })
  expect(decision?.details).not.toHaveProperty('approvedBy')
  const event = await waitUntil('the Event', async () =>
    (await client.list(events, { namespace })).find(({ reason }) => reason === 'BreakGlass'),
  )
  expect(event).toMatchObject({ type: 'Warning', involvedObject: { kind: 'RepositoryGrant', name: 'read-shop' } })
  await withdraw(fixture, opened)
  await grantIs(fixture, 'WaitingForApproval')
  await waitUntil('the token is revoked', async () => ((await works()) === 401 ? true : undefined))
})

test('its end counts while GitHub revokes nothing, also where a policy lets tokens live longer', async () => {
  const fixture = await policed(2, { tokenLifetimeSeconds: 3600 })
  const { namespace } = fixture
  const opened = await answer(fixture, await waiting(fixture), opening)
  const approved = await grantIs(fixture, 'Approved')
  const subject = { kind: 'ServiceAccount', namespace, name: 'runner', uid: 'runner-uid' }
  await fixture.desk.request({ grant: approved, subject, actor: 'test' })
  expect(approved.status?.tokenLifetimes).toMatchObject([{ name: 'runner', seconds: 3600 }])
  expect(approved.status?.approvedUntil).toBeDefined()
  const { faults } = environment.github.context
  const fault = faults.arm({ kind: 'rest-status', method: 'DELETE', path: '/installation/token', status: 500 }, null)
  await withdraw(fixture, opened)
  const after = await grantIs(fixture, 'WaitingForApproval')
  expect(after.status).not.toHaveProperty('approvedUntil')
  await expect(fixture.desk.request({ grant: after, subject, actor: 'test' })).rejects.toMatchObject({ code: 'forbidden' })
  // The status says no before tokens are revoked.
  await waitUntil('GitHub refused to revoke', () => (faults.list().find(({ id }) => id === fault)?.used ?? 0) > 0)
  faults.disarm(fault)
})

test('break-glass is no approval among others, and who denies ends it', async () => {
  const fixture = await policed(2)
  const grant = await waiting(fixture)
  const opened = await answer(fixture, grant, opening)
  await grantIs(fixture, 'Approved')
  const denial = await answer(fixture, grant, { by: mia, answer: 'Deny' })
  await grantIs(fixture, 'DeniedByPerson')
  await answer(fixture, grant, { by: olivia })
  await withdraw(fixture, opened)
  await withdraw(fixture, denial)
  const left = await grantIs(fixture, 'WaitingForApproval')
  expect(left.status?.approvals).toEqual({ required: 2, given: 1 })
})

test.each([
  ['longer than an hour', { breakGlass: true, lifetimeSeconds: 3601 }],
  ['for as long as approvals count', { breakGlass: true }],
  ['on a page', { breakGlass: true, lifetimeSeconds: 60, via: 'Page' }],
])('break-glass %s is refused', async (_what, more) => {
  const fixture = await policed(1)
  const grant = await waiting(fixture)
  await expect(answer(fixture, grant, { ...opening, more })).rejects.toThrow('breakGlass')
})

test('break-glass that denies is refused', async () => {
  const fixture = await policed(1)
  const grant = await waiting(fixture)
  await expect(answer(fixture, grant, { ...opening, answer: 'Deny' })).rejects.toThrow('breakGlass approves')
})

test('a name that no record could hold is refused', async () => {
  const fixture = await policed(1)
  const grant = await waiting(fixture)
  await expect(answer(fixture, grant, { by: olivia, name: `0${'x'.repeat(239)}` })).rejects.toThrow('at most 230 characters')
})

test('an answer is for one object: a grant of the same name that is created again waits, and the old answer is deleted', async () => {
  const fixture = await policed(1)
  const { client, namespace } = fixture
  const grant = await waiting(fixture)
  const approval = await answer(fixture, grant, { by: olivia })
  await grantIs(fixture, 'Approved')
  await client.delete(repositoryGrant, { namespace, name: 'read-shop' })
  const isGone = async (type: typeof repositoryGrant | typeof grantApproval, name: string) =>
    (await client.get<GrantApproval | RepositoryGrant>(type, { namespace, name })) === undefined
  await waitUntil('the grant is gone', () => isGone(repositoryGrant, 'read-shop'))
  await waitUntil('its answer is gone', () => isGone(grantApproval, approval.metadata.name))
  const again = await waiting(fixture)
  // One that was given for the first object, and arrives late.
  const late = await answer(fixture, grant, { by: olivia })
  await waitUntil('the late answer is gone', () => isGone(grantApproval, late.metadata.name))
  expect((await client.get(repositoryGrant, { namespace, name: 'read-shop' }))?.metadata.uid).toBe(again.metadata.uid)
  await grantIs(fixture, 'WaitingForApproval')
})

test('what a ServiceAccount requests waits for a person who has the access on GitHub, and holds as long as they approve', async () => {
  const fixture = await bound()
  const { namespace } = fixture
  const requested = await fixture.requestGrant('read-shop', { subject: 'system:serviceaccount:argocd:argocd-server' })
  const waits = await grantIs(fixture, 'WaitingForApproval')
  expect(waits.status).toMatchObject({ decision: 'Waiting', requestedRepositories: [{ id: 4001, name: 'acme/shop' }] })
  const subject = { kind: 'ServiceAccount', namespace, name: 'runner', uid: 'runner-uid' }
  const request = () => fixture.desk.request({ grant: requested, subject, actor: 'test' })
  await expect(request()).rejects.toMatchObject({ reason: 'GrantNotApproved' })

  // A program answers nothing, also not the one that requested it.
  const own = await answer(fixture, requested, { by: 'system:serviceaccount:argocd:argocd-server' })
  await answerIs(fixture, own, 'NotAPerson')
  // Mia is a member of the organization and cannot read the shop: she has nothing to pass on.
  await answer(fixture, requested, { by: mia })
  const lacking = await waitUntil('the access of mia was looked at', async () => {
    const seen = await grantIs(fixture, 'WaitingForApproval')
    return seen.status?.rule === 'approver-has-access' ? seen : undefined
  })
  expect(lacking.status).toMatchObject({ observedAnswers: mia, approvals: { required: 2, given: 1 } })
  await expect(request()).rejects.toMatchObject({ reason: 'GrantNotApproved' })

  const approval = await answer(fixture, requested, { by: olivia })
  await grantIs(fixture, 'Approved')
  const { token } = await request()
  const works = async () =>
    (await fetch(`${fixture.endpoints.api}/repos/acme/shop`, { headers: { authorization: `Bearer ${token.reveal()}` } })).status
  expect(await works()).toBe(200)
  await withdraw(fixture, approval)
  await grantIs(fixture, 'WaitingForApproval')
  await waitUntil('the token is revoked', async () => ((await works()) === 401 ? true : undefined))
  const decisions = await environment.store.audit.list({ namespace, action: 'grant.decided', limit: 10 })
  expect(decisions.map(({ details }) => [details['decision'], details['approvedBy']])).toEqual([
    ['Waiting', undefined],
    ['Approved', [olivia, mia]],
    ['Waiting', undefined],
    ['Waiting', undefined],
  ])
})

test('an approval ends with its author’s leaving the organization, and does not come back with them', async () => {
  const fixture = await policed(1, {}, { metadata: 'read', members: 'read' })
  const { client, namespace } = fixture
  const grant = await waiting(fixture)
  const approval = await answer(fixture, grant, { by: mia })
  const approved = await grantIs(fixture, 'Approved')
  const subject = { kind: 'ServiceAccount', namespace, name: 'runner', uid: 'runner-uid' }
  const { token } = await fixture.desk.request({ grant: approved, subject, actor: 'test' })
  const works = async () =>
    (await fetch(`${fixture.endpoints.api}/repos/acme/shop`, { headers: { authorization: `Bearer ${token.reveal()}` } })).status
  expect(await works()).toBe(200)
  const wake = (delivery: string) =>
    client.mergePatch(
      repositoryGrant,
      { namespace, name: 'read-shop' },
      { metadata: { annotations: { [wakeAnnotation]: delivery } } },
      { fieldManager },
    )
  const { state, store } = environment.github.context
  const memberships = state.organizations.find(({ id }) => id === 2001)?.memberships ?? expect.fail('no acme')
  const at = memberships.findIndex(({ userId }) => userId === 1003)
  const [membership] = store.change(() => memberships.splice(at, 1))
  await wake('delivery-left')
  await grantIs(fixture, 'WaitingForApproval')
  await waitUntil('the token is revoked', async () => ((await works()) === 401 ? true : undefined))
  await waitUntil('the approval is gone', async () =>
    (await client.get(grantApproval, { namespace, name: approval.metadata.name })) === undefined ? true : undefined,
  )
  const [decision] = await environment.store.audit.list({ namespace, action: 'grant.decided', limit: 1 })
  expect(decision?.details).toMatchObject({ decision: 'Waiting', departed: [mia] })

  store.change(() => memberships.push(membership ?? expect.fail('mia was no member')))
  await wake('delivery-back')
  await quiet(fixture)
  const back = await grantIs(fixture, 'WaitingForApproval')
  expect(back.status).not.toHaveProperty('endedApprovals')
  await answer(fixture, grant, { by: mia })
  await grantIs(fixture, 'Approved')
})
