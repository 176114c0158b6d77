// People answer for grants on the page of their tenant: who may is what the RBAC of a real API server says, the answer is in the
// name of the person, and everybody else changes nothing. A complete broker with its own rights, against the emulator.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Browser, BrowserPage } from '../../dev/github/testing/browser.ts'
import { type GrantApproval, grantApproval } from '../../src/api/github/grant-approval.ts'
import { halt } from '../../src/api/github/halt.ts'
import { installation } from '../../src/api/github/installation.ts'
import { type RepositoryGrant, repositoryGrant } from '../../src/api/github/repository-grant.ts'
import { groups, platformNamespace, tenantRoles } from '../../src/api/names.ts'
import { tenant } from '../../src/api/tenancy/tenant.ts'
import { tenantRoleRules } from '../../src/api/tenancy/tenant-roles.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { bindRole } from '../fixtures/bound-role.ts'
import { type BrokerEnvironment, bringOrganization, startBrokerEnvironment } from '../fixtures/broker-fixture.ts'
import { testAdmin } from '../fixtures/harness.ts'
import { put } from '../fixtures/put-object.ts'
import { writeStatus } from '../fixtures/write-status.ts'

const hostile = '"><script>alert(1)</script>\'&'
let environment: BrokerEnvironment
let namespace: string
let installed: string
const browsers = new Map<string, Promise<Browser>>()

beforeAll(async () => {
  environment = await startBrokerEnvironment()
  namespace = environment.organization.login
  await bringOrganization(environment)
  const { host, organization, kube } = environment
  installed = (await waitUntil('the Installation', async () => (await kube.list(installation, { namespace }))[0])).metadata.name
  const admin = await testAdmin()
  const bind = (role: string, group: string) =>
    bindRole(admin, { namespace, name: `${role}-of-grants` }, tenantRoleRules().get(role) ?? [], [{ kind: 'Group', name: group }])
  await bind(tenantRoles.admin, groups.owners(host, organization.id))
  await bind(tenantRoles.developer, groups.team(host, organization.id, 3001))
  await bind(tenantRoles.viewer, groups.members(host, organization.id))
  await writeStatus(admin, tenant, { name: namespace }, { namespace })
  // Gary is the admin of another tenant.
  const globex = environment.github.context.state.organizations.find(one => one.login.startsWith('globex')) ?? expect.fail('none')
  const account = { host, id: globex.id, login: globex.login, type: 'Organization' }
  const roles = [{ role: 'admin', subject: { type: 'User', id: 1004 } }]
  await put(kube, tenant, { name: globex.login }, { spec: { namespace: globex.login, account, roles } })
})
afterAll(() => environment?.stop())

const path = (rest = '') => `${environment.url}/tenants/${namespace}${rest}`
async function browserOf(login: string): Promise<Browser> {
  const known = browsers.get(login) ?? environment.signIn(login).then(({ browser }) => browser)
  browsers.set(login, known)
  return known
}
const open = async (login: string, rest = '/grants'): Promise<BrowserPage> => (await browserOf(login)).open(path(rest))

/** As the controller reports one that waits; resolves when the page of olivia shows it. */
async function waiting(name: string, by = 'dave', reason = 'the release pipeline reads the tags'): Promise<RepositoryGrant> {
  const spec = {
    installation: installed,
    repositories: [`${namespace}/shop`],
    permissions: { contents: 'read' },
    subjects: [{ kind: 'ServiceAccount', name: 'release' }],
    reason,
    requestedBy: environment.subjectOf(by),
  }
  const grant = await put(environment.kube, repositoryGrant, { namespace, name }, { spec })
  await reported(name, 'Waiting')
  await waitUntil('the page shows it', async () => (await open('olivia')).text.includes(grant.metadata.uid ?? '?'))
  return grant
}
const reported = async (name: string, decision: string) =>
  writeStatus(
    await testAdmin(),
    repositoryGrant,
    { namespace, name },
    {
      decision,
      rule: 'GrantPolicy/releases/two-look-at-it',
      approvals: { required: 2, given: 0 },
      requestedRepositories: [{ id: 4001, name: `${namespace}/shop` }],
    },
  )
const answersTo = async ({ metadata: { uid } }: RepositoryGrant): Promise<readonly GrantApproval[]> =>
  (await environment.kube.list(grantApproval, { namespace })).filter(({ spec }) => spec.grant.uid === uid)
const formOf = async (login: string, { metadata: { name } }: RepositoryGrant) => (await open(login)).form(`Answer for ${name}`)
const records = async (outcome: string) =>
  (await environment.store.audit.list({ action: 'grant.answered', limit: 100 })).filter(one => one.outcome === outcome)

/** A form that no page offered, with a secret of the person's own session. */
async function send(login: string, fields: Readonly<Record<string, string>>): Promise<{ status: number; text: string }> {
  const browser = await browserOf(login)
  const csrf = /name="csrf" value="([^"]+)"/.exec((await browser.open(environment.url)).text)?.[1] ?? ''
  const cookie = Object.entries(browser.cookies(environment.url))
    .map(([key, value]) => `${key}=${value}`)
    .join('; ')
  const body = new URLSearchParams({ csrf, answer: 'Approve', reason: 'it is fine', ...fields })
  const answer = await environment.fetch(path('/grants/answer'), {
    method: 'POST',
    headers: { cookie },
    body,
    redirect: 'manual',
  })
  return { status: answer.status, text: await answer.text() }
}
const fieldsOf = ({ metadata: { name, uid = '' } }: RepositoryGrant) => ({ grant: name, uid })

describe('an admin of the tenant', () => {
  test('sees what is asked, approves, and changes their mind; each answer is in their name and in the log', async () => {
    const grant = await waiting('publish')
    expect((await open('olivia', '')).text).toContain('Grants that wait for approval')
    const page = await open('olivia')
    for (const part of ['contents: read', `${namespace}/shop</span> (id 4001)`, 'ServiceAccount release', '0 of 2, 2 missing'])
      expect(page.text).toContain(part)
    const answered = await (await formOf('olivia', grant)).submit({ answer: 'Approve', reason: 'tags are cut by the pipeline' })
    expect(answered.url).toBe(path('/grants'))
    expect(await answersTo(grant)).toMatchObject([
      {
        spec: {
          grant: { name: 'publish', uid: grant.metadata.uid },
          answer: 'Approve',
          reason: 'tags are cut by the pipeline',
          via: 'Page',
          requestedBy: environment.subjectOf('olivia'),
        },
      },
    ])
    expect((await open('dave')).text).toContain('tags are cut by the pipeline')
    await (await formOf('olivia', grant)).submit({ answer: 'Deny', reason: 'not like this' })
    expect((await answersTo(grant)).find(({ spec }) => spec.answer === 'Approve')?.spec.lifetimeSeconds).toBe(2_592_000)
    expect((await answersTo(grant)).map(({ spec }) => spec.answer).toSorted()).toEqual(['Approve', 'Deny'])
    const log = (await records('allowed')).filter(({ details }) => details['grantUid'] === grant.metadata.uid)
    expect(log.map(({ actor, namespace: of }) => [actor, of])).toEqual(
      Array(2).fill([environment.subjectOf('olivia'), namespace]),
    )
  })

  test('approves for a shorter time than usual', async () => {
    const grant = await waiting('for-a-day')
    await (await formOf('olivia', grant)).submit({ answer: 'Approve', reason: 'until tomorrow', lifetime: 'day' })
    expect(await answersTo(grant)).toMatchObject([{ spec: { answer: 'Approve', lifetimeSeconds: 86_400, via: 'Page' } }])
    const log = (await records('allowed')).find(({ details }) => details['grantUid'] === grant.metadata.uid)
    expect(log?.details).toMatchObject({ answer: 'Approve', lifetimeSeconds: 86_400 })
  })

  test('answers for one grant: not for another one of its name, and not for one that is decided', async () => {
    const first = await waiting('again')
    const form = await formOf('olivia', first)
    await environment.kube.delete(repositoryGrant, { namespace, name: 'again' })
    const second = await waiting('again')
    expect((await form.submit({ answer: 'Approve', reason: 'it is fine' })).status).toBe(409)
    await reported('again', 'Approved')
    await waitUntil('the page knows', async () => !(await open('olivia')).text.includes(second.metadata.uid ?? '?'))
    expect((await send('olivia', fieldsOf(second))).status).toBe(409)
    expect([await answersTo(first), await answersTo(second)]).toEqual([[], []])
  })

  test('who is none any more answers nothing, also while the page of before is open', async () => {
    const grant = await waiting('left')
    const form = await formOf('olivia', grant)
    const setRole = (role: 'admin' | 'member') =>
      environment.github.context.store.change(state => {
        const organization = state.organizations.find(({ id }) => id === environment.organization.id)
        Object.assign(organization?.memberships.find(({ userId }) => userId === 1001) ?? expect.fail('no member'), { role })
      })
    setRole('member')
    try {
      expect((await form.submit({ answer: 'Approve', reason: 'it is fine' })).status).toBe(403)
      expect(await answersTo(grant)).toEqual([])
    } finally {
      setRole('admin')
    }
    expect((await form.submit({ answer: 'Approve', reason: 'it is fine' })).status).toBe(200)
    expect(await answersTo(grant)).toHaveLength(1)
  })

  test('does not answer for what they requested, and sees why there is no form', async () => {
    const grant = await waiting('own', 'olivia')
    const page = await open('olivia')
    expect(page.text).toContain('You requested it: another admin of the tenant has to answer')
    for (const answer of ['Approve', 'Deny']) {
      const reply = await send('olivia', { ...fieldsOf(grant), answer })
      expect([reply.status, reply.text]).toEqual([403, expect.stringContaining('you requested own')])
    }
    expect(await answersTo(grant)).toEqual([])
  })
})

describe('nobody else answers', () => {
  test('a developer and a viewer see the list without a form, and what they send is refused and recorded', async () => {
    const grant = await waiting('not-yours', 'olivia', hostile)
    for (const login of ['dave', 'mia']) {
      const page = await open(login)
      expect(page.text).toContain(grant.metadata.uid)
      expect(page.text).toContain('An admin of the tenant who did not request it answers.')
      expect(page.text).not.toContain('/grants/answer')
      expect(page.text).not.toContain('<script>')
      expect((await send(login, fieldsOf(grant))).status).toBe(403)
    }
    const denied = (await records('denied')).filter(({ details }) => details['grantUid'] === grant.metadata.uid)
    expect(denied.map(({ actor }) => actor).toSorted()).toEqual(['dave', 'mia'].map(environment.subjectOf).toSorted())
    expect(await answersTo(grant)).toEqual([])
  })

  test('for the admin of another tenant, who has no role in any, and who is signed out, neither the list nor the grant exists', async () => {
    const grant = await waiting('hidden')
    await waitUntil('gary is an admin', async () =>
      (await (await browserOf('gary')).open(environment.url)).text.includes('globex'),
    )
    for (const login of ['gary', 'noah']) {
      const page = await open(login)
      expect(page.status, login).toBe(404)
      expect(page.text).not.toContain(grant.metadata.uid)
      const known = await send(login, fieldsOf(grant))
      const unknown = await send(login, { ...fieldsOf(grant), grant: 'nothing-here' })
      expect(known.status, login).toBe(404)
      const withoutRequest = (text: string) => text.replace(/"requestId":"[\w-]+"|Request [\w-]+/, '')
      expect([known.status, withoutRequest(known.text)]).toEqual([unknown.status, withoutRequest(unknown.text)])
    }
    const out = await environment.fetch(path('/grants'), { redirect: 'manual' })
    expect([out.status, out.headers.get('location')]).toEqual([303, expect.stringContaining('/login?return_to=')])
    const body = new URLSearchParams({ csrf: 'x', answer: 'Approve', reason: 'it is fine', ...fieldsOf(grant) })
    expect((await environment.fetch(path('/grants/answer'), { method: 'POST', body, redirect: 'manual' })).status).toBe(401)
    expect(await answersTo(grant)).toEqual([])
  })

  test('a form without the secret of the session, and one with other fields, changes nothing', async () => {
    const grant = await waiting('forged')
    expect((await (await formOf('olivia', grant)).submit({ csrf: 'x', answer: 'Approve', reason: 'it is fine' })).status).toBe(
      403,
    )
    const gary = /name="csrf" value="([^"]+)"/.exec((await (await browserOf('gary')).open(environment.url)).text)?.[1] ?? ''
    expect((await send('olivia', { ...fieldsOf(grant), csrf: gary })).status).toBe(403)
    for (const fields of [
      { answer: 'BreakGlass' },
      { reason: 'x' },
      { reason: 'two\nlines' },
      { uid: 'x' },
      { grant: '../x' },
      { reason: 'y'.repeat(501) },
      { lifetime: 'year' },
    ] as const)
      expect((await send('olivia', { ...fieldsOf(grant), ...fields })).status, JSON.stringify(fields)).toBe(400)
    // What a form cannot say: it is written by the platform for the person, and never opens anything.
    expect((await send('olivia', { ...fieldsOf(grant), breakGlass: 'true', lifetimeSeconds: '9' })).status).toBe(303)
    const [answer, ...others] = await answersTo(grant)
    expect([answer?.spec.breakGlass, answer?.spec.lifetimeSeconds, others]).toEqual([undefined, 2_592_000, []])
  })

  test.each([
    ['the tenant', () => namespace, 403],
    ['the platform', () => platformNamespace, 401],
  ])('a person who is halted by %s', async (_who, where, status) => {
    const name = `halted-${status}`
    const grant = await waiting(name)
    const person = { host: environment.host, id: 1001 }
    const spec = { target: { type: 'Person', person }, reason: 'a token leaked', requestedBy: environment.subjectOf('olivia') }
    const key = { namespace: where(), name: `${name}-${environment.organization.id}` }
    await put(environment.kube, halt, key, { spec })
    const other = { ...fieldsOf(grant), uid: '00000000-0000-4000-8000-000000000000' }
    try {
      // Until then the grant with that UID is another one.
      await waitUntil('the Halt holds', async () => (await send('olivia', other)).status === status || undefined)
      for (const answer of ['Approve', 'Deny']) expect((await send('olivia', { ...fieldsOf(grant), answer })).status).toBe(status)
      expect(await answersTo(grant)).toEqual([])
    } finally {
      await environment.kube.delete(halt, key)
    }
  })
})
