// Who may come: an account that is not listed waits for a platform admin, whatever its owner does. Objects and requests that
// are loaded by id are those of the person who asks.
import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Browser, BrowserPage } from '../../dev/github/testing/browser.ts'
import { install } from '../../dev/github/testing/people.ts'
import { groups, tenantRoles } from '../../src/api/names.ts'
import { tenant } from '../../src/api/tenancy/tenant.ts'
import { tenantRoleRules } from '../../src/api/tenancy/tenant-roles.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { bindRole } from '../fixtures/bound-role.ts'
import { type BrokerEnvironment, bringOrganization, startBrokerEnvironment } from '../fixtures/broker-fixture.ts'
import { testAdmin } from '../fixtures/harness.ts'
import { apiCall, kubectlLogin } from '../fixtures/kubectl-login.ts'

let environment: BrokerEnvironment
let globex: { readonly id: number; readonly login: string }

const auditOf = (action: 'onboarding.confirmed' | 'onboarding.decided' | 'tenant.onboarded' | 'binding.denied') =>
  environment.store.audit.list({ action, limit: 100 })
const waiting = () => environment.store.onboardings.waitingForAdmin()
const tenantOf = async (accountId: number) =>
  (await environment.kube.list(tenant)).find(
    ({ spec }) => spec.account.host === environment.host && spec.account.id === accountId,
  )
const change = (work: () => void): void => environment.github.context.store.change(work)

/** gary, the owner of globex, asks for a tenant; resolves to the page after the confirmation. */
async function request(): Promise<{ readonly browser: Browser; readonly page: BrowserPage; readonly id: string }> {
  const { browser, page } = await environment.signIn('gary', '/onboard')
  const confirm = await page.form(`Continue with ${globex.login}`).submit()
  const answer = await confirm.form('Create the tenant').submit()
  const [record] = await waiting()
  return { browser, page: answer, id: record?.id ?? '' }
}

const admin = async () => kubectlLogin(environment, (await environment.signIn('olivia')).browser, 'olivia')

beforeAll(async () => {
  environment = await startBrokerEnvironment({ platformAdmins: ['olivia', 'noah'], accounts: String })
  await bringOrganization(environment)
  const found = environment.github.context.state.organizations.find(({ login }) => login.startsWith('globex'))
  globex = { id: found?.id ?? 0, login: found?.login ?? '' }
  const { browser } = await environment.signIn('gary')
  await install(environment.github, browser, globex.id, { repositoryIds: 'all' })
})
afterAll(() => environment?.stop())

describe('an account that is not listed', () => {
  test('waits for a platform admin: the owner and the admin see it, and nothing is created', async () => {
    const { browser, page, id } = await request()
    expect(page.text).toContain(`${globex.login} waits for a platform admin`)
    expect((await browser.open(`${environment.url}/onboard`)).text).toContain(
      'waiting for a platform admin, who approves accounts',
    )
    expect(await waiting()).toMatchObject([{ id, accountId: globex.id, state: 'waiting-for-admin' }])
    expect(await tenantOf(globex.id)).toBeUndefined()
    expect((await auditOf('onboarding.confirmed')).at(0)).toMatchObject({
      actor: environment.subjectOf('gary'),
      reason: expect.stringContaining('waits for a platform admin'),
      details: { accountId: globex.id },
    })
    const olivia = await environment.signIn('olivia')
    expect(olivia.page.text).toContain('onboardings to decide')
    expect((await olivia.browser.open(`${environment.url}/onboardings`)).text).toContain(globex.login)
    expect((await olivia.browser.open(`${environment.url}/tenants`)).text).toContain('All tenants')
    expect((await apiCall(environment, await admin(), '/api/v1/onboardings')).body).toMatchObject({
      onboardings: [{ id, account: { id: globex.id, login: globex.login }, requestedBy: { login: 'gary' }, repositories: 'all' }],
    })
  })

  test('does not wait twice for the same person', async () => {
    const { browser } = await environment.signIn('gary')
    const again = await (await browser.open(`${environment.url}/onboard`)).form(`Continue with ${globex.login}`).submit()
    const answer = await again.form('Create the tenant').submit()
    expect(answer.status).toBe(409)
    expect(answer.text).toContain('waits for a platform admin already')
    expect(await waiting()).toHaveLength(1)
  })

  test("is nobody else's to see or to decide", async () => {
    const [record] = await waiting()
    const id = record?.id ?? ''
    const dave = await environment.signIn('dave')
    const tokens = await kubectlLogin(environment, dave.browser, 'dave')
    const csrf =
      (await dave.browser.open(`${environment.url}/onboard`)).form('Install the App on GitHub').fields.get('csrf') ?? ''
    const cookie = Object.entries(dave.browser.cookies(environment.url))
      .map(pair => pair.join('='))
      .join('; ')
    const post = (path: string) =>
      environment.fetch(`${environment.url}${path}`, {
        method: 'POST',
        headers: { cookie },
        body: new URLSearchParams({ csrf, onboarding: id }),
        redirect: 'manual',
      })
    for (const path of ['/onboardings/approve', '/onboardings/refuse', '/onboard/withdraw', '/onboard/confirm'])
      expect((await post(path)).status, path).toBe(404)
    for (const path of ['/tenants', '/onboardings', `/onboard/progress?onboarding=${id}`, `/onboard/confirm?onboarding=${id}`])
      expect((await dave.browser.open(`${environment.url}${path}`)).status, path).toBe(404)
    expect((await dave.browser.open(`${environment.url}/onboard`)).text).not.toContain(globex.login)
    for (const [path, body] of [
      ['/api/v1/onboardings', undefined],
      ['/api/v1/onboardings/approve', { onboarding: id }],
      ['/api/v1/onboardings/refuse', { onboarding: id }],
      ['/api/v1/keys', undefined],
      ['/api/v1/audit/acknowledge', { reason: 'an attack', statements: [] }],
    ] as const)
      expect((await apiCall(environment, tokens, path, body)).status, path).toBe(403)
    for (const path of ['/api/v1/onboardings', '/api/v1/sessions', '/api/v1/audit', '/api/v1/keys'])
      expect((await environment.fetch(`${environment.url}${path}`, { headers: { cookie } })).status, path).toBe(401)
    const acknowledged = await environment.fetch(`${environment.url}/api/v1/audit/acknowledge`, {
      method: 'POST',
      headers: { cookie, 'content-type': 'application/json' },
      body: JSON.stringify({ reason: 'an attack', statements: [] }),
    })
    expect(acknowledged.status).toBe(401)
    expect(await waiting()).toHaveLength(1)
  })

  test('is proved again before an approval counts: an owner who was removed since gets nothing', async () => {
    const [record] = await waiting()
    const organization = environment.github.context.state.organizations.find(({ id }) => id === globex.id)
    const own = organization?.memberships.find(({ userId }) => userId === 1004)
    change(() => Object.assign(own ?? {}, { role: 'member' }))
    const answer = await apiCall(environment, await admin(), '/api/v1/onboardings/approve', { onboarding: record?.id })
    change(() => Object.assign(own ?? {}, { role: 'admin' }))
    expect(answer).toMatchObject({ status: 409, body: { error: { message: expect.stringContaining('cannot prove') } } })
    expect((await auditOf('binding.denied')).at(0)).toMatchObject({ actor: environment.subjectOf('gary') })
    expect(await tenantOf(globex.id)).toBeUndefined()
    const { browser } = await environment.signIn('gary')
    expect((await browser.open(`${environment.url}/onboard`)).text).toContain('refused: it could not be approved')
  })

  test('stays out when an admin refuses it, and its owner reads why', async () => {
    const { browser, id } = await request()
    const olivia = await environment.signIn('olivia', '/onboardings')
    await olivia.page.form('Refuse').submit({ reason: 'not <b>a customer' })
    expect(await waiting()).toEqual([])
    expect((await auditOf('onboarding.decided')).at(0)).toMatchObject({
      actor: environment.subjectOf('olivia'),
      outcome: 'denied',
      details: { onboarding: id, person: environment.subjectOf('gary') },
    })
    expect((await browser.open(`${environment.url}/onboard`)).text).toContain('not &lt;b&gt;a customer')
    expect((await apiCall(environment, await admin(), '/api/v1/onboardings/approve', { onboarding: id })).status).toBe(409)
    expect(await tenantOf(globex.id)).toBeUndefined()
  })

  test('comes in when an admin approves it; then its owner gets a token at once, and may onboard it again', async () => {
    const { browser, id } = await request()
    const before = await environment.fetch(`${environment.url}/api/v1/whoami`)
    expect(before.status).toBe(401)
    const olivia = await environment.signIn('olivia', '/onboardings')
    const after = await olivia.page.form('Approve').submit()
    expect(after.text).toContain('No onboarding waits')
    expect((await auditOf('onboarding.decided')).at(0)).toMatchObject({ outcome: 'allowed', details: { onboarding: id } })
    const made = await waitUntil('the Tenant', () => tenantOf(globex.id))
    // The Tenant is not ready: no controller runs here.
    const tokens = await kubectlLogin(environment, browser, 'gary')
    expect(decodeJwt(tokens.id_token ?? '').sub).toBe(environment.subjectOf('gary'))
    await environment.makeNamespace(made.metadata.name)
    const finished = async () => (await auditOf('tenant.onboarded')).find(entry => entry.namespace === made.metadata.name)
    await waitUntil('the audit record', finished)
    const again = await (await browser.open(`${environment.url}/onboard`)).form(`Continue with ${globex.login}`).submit()
    expect((await again.form('Update the tenant').submit()).status).toBe(200)
    expect(await waiting()).toEqual([])
  })
})

describe('an account that is listed', () => {
  test('needs no approval; its record of the intent is older than its tenant', async () => {
    const entries = await environment.store.audit.list({ limit: 1000 })
    const [intent, binding] = ['onboarding.confirmed', 'tenant.onboarded'].map(action =>
      entries.findLast(entry => entry.action === action && entry.details['accountId'] === environment.organization.id),
    )
    expect(intent?.reason).toBe('the account may be onboarded')
    expect(intent?.sequence ?? Number.NaN).toBeLessThan(binding?.sequence ?? Number.NaN)
    expect((await auditOf('onboarding.decided')).map(({ details }) => details['accountId'])).not.toContain(
      environment.organization.id,
    )
  })
})

describe('a platform admin who belongs to no tenant', () => {
  test('gets a token, and it says nothing of anybody else', async () => {
    const noah = await environment.signIn('noah')
    expect(noah.page.text).toContain('You are a platform admin')
    const tokens = await kubectlLogin(environment, noah.browser, 'noah')
    expect(decodeJwt(tokens.id_token ?? '')['groups']).toEqual([])
    expect((await apiCall(environment, tokens, '/api/v1/whoami')).body).toMatchObject({ platformAdmin: true, tenants: [] })
  })

  test('reads by which keys is sealed', async () => {
    expect(await apiCall(environment, await admin(), '/api/v1/keys')).toMatchObject({
      status: 200,
      body: { processes: [{ process: 'broker', keys: [{ use: 'seals' }], unknownKey: 0 }], problems: [] },
    })
  })
})

describe("a sign-in that another person's program began", () => {
  test('cannot be seen, approved or refused from another browser', async () => {
    const mia = await environment.signIn('mia')
    mia.browser.stops.push(`${environment.url}/oidc/interaction/`)
    const url = new URL('/oidc/authorize', environment.url)
    const parameters = {
      client_id: 'kubernetes',
      response_type: 'code',
      scope: 'openid',
      redirect_uri: 'http://127.0.0.1:1/callback',
      code_challenge: 'a'.repeat(43),
      code_challenge_method: 'S256',
    }
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
    const pending = (await mia.browser.open(url.href)).url
    expect(pending).toContain('/oidc/interaction/')
    const dave = await environment.signIn('dave')
    expect((await dave.browser.open(pending)).status).toBe(400)
    const csrf = dave.page.form('Sign out').fields.get('csrf') ?? ''
    const cookie = Object.entries(dave.browser.cookies(environment.url))
      .map(pair => pair.join('='))
      .join('; ')
    for (const decision of ['allow', 'refuse']) {
      const body = new URLSearchParams({ csrf, decision })
      expect((await environment.fetch(pending, { method: 'POST', headers: { cookie }, body, redirect: 'manual' })).status).toBe(
        400,
      )
    }
    mia.browser.stops.length = 0
    expect((await mia.browser.open(pending)).text).toContain('Continue as mia')
  })
})

describe('what another tenant has', () => {
  test('cannot be read by name: not its page, not its audit log by a cursor, a filter or a namespace', async () => {
    const gary = await environment.signIn('gary')
    const tokens = await kubectlLogin(environment, gary.browser, 'gary')
    const { login } = environment.organization
    expect((await gary.browser.open(`${environment.url}/tenants/${login}`)).status).toBe(404)
    expect((await apiCall(environment, tokens, `/api/v1/audit?namespace=${login}`)).status).toBe(404)
    expect((await apiCall(environment, tokens, '/api/v1/audit/head')).status).toBe(404)
    // As the Tenant controller binds the role of owners.
    const owners = { kind: 'Group', name: groups.owners(environment.host, globex.id) } as const
    const rules = tenantRoleRules().get(tenantRoles.admin) ?? []
    await bindRole(await testAdmin(), { namespace: globex.login, name: tenantRoles.admin }, rules, [owners])
    const status = async () => (await apiCall(environment, tokens, '/api/v1/audit')).status
    await waitUntil('the role of owners', async () => (await status()) === 200)
    for (const query of ['', '?after=0', '?before=999999', `?actor=${encodeURIComponent(environment.subjectOf('olivia'))}`]) {
      const { status, body } = await apiCall(environment, tokens, `/api/v1/audit${query}`)
      expect(status).toBe(200)
      const entries = body['entries'] as { readonly namespace: string }[]
      expect(new Set(entries.map(({ namespace }) => namespace)).has(login)).toBe(false)
      for (const { namespace } of entries) expect(namespace).toContain('globex')
    }
    const whoami = await apiCall(environment, tokens, '/api/v1/whoami')
    expect(JSON.stringify(whoami.body)).not.toContain(login)
    expect(whoami.body).toMatchObject({ platformAdmin: false })
  })
})
