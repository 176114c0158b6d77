// Onboarding as people experience it: sign-in with GitHub, proof, tenant. Against the emulator, a real store and a real API
// server.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { install } from '../../dev/github/testing/people.ts'
import { installation } from '../../src/api/github/installation.ts'
import { tenant } from '../../src/api/tenancy/tenant.ts'
import { AppError } from '../../src/lib/errors.ts'
import { limits } from '../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { type BrokerEnvironment, startBrokerEnvironment } from '../fixtures/broker-fixture.ts'

let environment: BrokerEnvironment

beforeAll(async () => {
  environment = await startBrokerEnvironment()
})
afterAll(() => environment.stop())

const auditOf = (action: 'binding.denied' | 'tenant.onboarded' | 'session.signed-in') =>
  environment.store.audit.list({ action, limit: 100 })

const globex = () => environment.github.context.state.organizations.find(({ login }) => login.startsWith('globex'))
const tenantOfGlobex = async () =>
  (await environment.kube.list(tenant)).find(
    ({ spec }) => spec.account.host === environment.host && spec.account.id === globex()?.id,
  )

/** gary, the owner of globex, at the page on which he confirms. */
async function garyConfirms() {
  const { browser } = await environment.signIn('gary')
  const { accountId } = environment.github.context.state.installations.find(one => one.accountId === globex()?.id) ?? {}
  if (accountId === undefined) await install(environment.github, browser, globex()?.id ?? 0, { repositoryIds: 'all' })
  const page = await browser.open(`${environment.url}/onboard`)
  return { browser, page: await page.form(`Continue with ${globex()?.login}`).submit() }
}

describe('sign-in', () => {
  test('a person signs in with GitHub and is redirected to their page', async () => {
    const { page, browser } = await environment.signIn('olivia')
    expect(page.status).toBe(200)
    expect(page.text).toContain('Signed in as <strong>olivia</strong>')
    expect(page.text).toContain(environment.subjectOf('olivia'))
    const cookies = browser.cookies(environment.url)
    expect(Object.keys(cookies)).toContain('__Host-sekisho-session')
    expect((await auditOf('session.signed-in')).at(0)?.actor).toBe(environment.subjectOf('olivia'))
  })

  test('the session cookie is sent to this host over https only, and no script can read it', async () => {
    const { browser } = await environment.signIn('mia')
    browser.stops.push(`${environment.github.url}/login/oauth/authorize`)
    const response = await environment.fetch(`${environment.url}/login`, { redirect: 'manual' })
    const [cookie = ''] = response.headers.getSetCookie()
    for (const part of ['__Host-', 'Path=/', 'HttpOnly', 'Secure', 'SameSite=Lax']) expect(cookie).toContain(part)
    const target = new URL(response.headers.get('location') ?? '')
    expect(target.searchParams.get('code_challenge_method')).toBe('S256')
    expect(target.searchParams.get('code_challenge')).toMatch(/^[A-Za-z0-9_-]{43}$/)
  })

  test('signing out requires the form of the page and ends the session', async () => {
    const { browser, page } = await environment.signIn('mia')
    const cookie = Object.entries(browser.cookies(environment.url))
      .map(([name, value]) => `${name}=${value}`)
      .join('; ')
    const forged = await environment.fetch(`${environment.url}/logout`, {
      method: 'POST',
      headers: { cookie },
      body: new URLSearchParams({ csrf: 'x' }),
    })
    expect(forged.status).toBe(403)
    await page.form('Sign out').submit()
    const response = await environment.fetch(`${environment.url}/onboard`, { headers: { cookie }, redirect: 'manual' })
    expect(response.headers.get('location')).toContain('/login')
  })
})

describe('onboarding', () => {
  test('an owner brings the organisation: proof, tenant with roles by numeric ids, installation, audit', async () => {
    const { login, id } = environment.organization
    const { browser, page } = await environment.signIn('olivia', '/onboard')
    browser.stops.push(`${environment.github.url}/github-apps/`)
    const started = await page.form('Install the App on GitHub').submit()
    const state = new URL(started.url).searchParams.get('state') ?? ''
    expect(state.length).toBeGreaterThan(20)
    browser.stops.length = 0
    const confirm = await install(environment.github, browser, id, { repositoryIds: [4001], state })
    expect(confirm.text).toContain(`Onboard ${login}`)
    const done = await confirm.form('Create the tenant').submit({ team: '3001' })
    expect(done.text).toContain('Preparing')

    const made = await environment.kube.get(tenant, { name: login })
    expect(made?.spec.account).toEqual({ host: environment.host, id, login, type: 'Organization' })
    expect(made?.spec.roles).toEqual([
      { role: 'admin', subject: { type: 'Owners' } },
      { role: 'viewer', subject: { type: 'Members' } },
      { role: 'developer', subject: { type: 'Team', id: 3001, name: 'developers' } },
    ])
    expect(await environment.kube.get(installation, { namespace: login, name: 'github' })).toBeUndefined()

    await environment.makeNamespace(login)
    const bound = await waitUntil('the Installation', () =>
      environment.kube.get(installation, { namespace: login, name: 'github' }),
    )
    expect(bound.spec).toMatchObject({
      account: { id },
      boundBy: { id: 1001, login: 'olivia' },
      proof: { method: 'OrganizationOwner' },
      ceiling: { repositories: 'Selected', repositoryIds: [4001] },
    })
    expect(bound.spec.ceiling.permissions).toMatchObject({ contents: 'write', metadata: 'read' })
    expect(bound.spec.ceiling.permissions).not.toHaveProperty('members')
    const entry = await waitUntil('the audit entry', async () => (await auditOf('tenant.onboarded')).at(0))
    expect(entry).toMatchObject({ actor: environment.subjectOf('olivia'), namespace: login, outcome: 'allowed' })
    const shown = await browser.open(`${environment.url}/tenants/${login}`)
    expect(shown.text).toContain('You are its admin')
  })

  test('a second onboarding of the same organisation uses its tenant again and keeps the binding', async () => {
    const { login } = environment.organization
    const before = await environment.kube.get(installation, { namespace: login, name: 'github' })
    const { page } = await environment.signIn('olivia', '/onboard')
    const confirm = await page.form(`Continue with ${login}`).submit()
    await confirm.form('Update the tenant').submit({ team: [] })
    await waitUntil('the second audit entry', async () => (await auditOf('tenant.onboarded')).length >= 2)
    const after = await environment.kube.get(installation, { namespace: login, name: 'github' })
    expect(after?.metadata.uid).toBe(before?.metadata.uid)
    expect((await environment.kube.get(tenant, { name: login }))?.spec.roles).toHaveLength(3)
  })

  test('a binding that changed replaces the Installation, and the log says who did it before', async () => {
    const { login, id } = environment.organization
    const before = await environment.kube.get(installation, { namespace: login, name: 'github' })
    environment.github.context.store.change(state => {
      Object.assign(state.installations.find(({ accountId }) => accountId === id) ?? {}, { repositorySelection: 'all' })
    })
    const { page } = await environment.signIn('olivia', '/onboard')
    await (await page.form(`Continue with ${login}`).submit()).form('Update the tenant').submit({ team: [] })
    const after = await waitUntil('the new Installation', async () => {
      const found = await environment.kube.get(installation, { namespace: login, name: 'github' })
      return found?.metadata.uid === before?.metadata.uid ? undefined : found
    })
    expect(after.spec.ceiling.repositories).toBe('All')
    expect(await environment.store.audit.list({ action: 'installation.replaced', limit: 10 })).toMatchObject([
      { actor: environment.subjectOf('olivia'), namespace: login, details: { uid: before?.metadata.uid } },
    ])
  })

  test('nothing is created while the audit log cannot be written', async () => {
    const { browser, page } = await garyConfirms()
    const failing = vi.spyOn(environment.store.audit, 'append').mockRejectedValue(new AppError('unavailable', 'no log'))
    try {
      expect((await page.form('Create the tenant').submit()).status).toBe(503)
    } finally {
      failing.mockRestore()
    }
    expect(await tenantOfGlobex()).toBeUndefined()
    expect((await browser.open(`${environment.url}/onboard`)).text).toContain('waiting for you: choose teams and confirm')
  })

  test('a proof that is old is made again: an owner who was removed in the meantime binds nothing', async () => {
    const { browser, page } = await garyConfirms()
    expect((await page.form('Create the tenant').submit()).text).toContain('Preparing')
    const made = await waitUntil('the Tenant', tenantOfGlobex)
    environment.advance(16 * 60)
    const membership = globex()?.memberships.find(({ userId }) => userId === 1004)
    environment.github.context.store.change(() => Object.assign(membership ?? {}, { role: 'member' }))
    const { name } = made.metadata
    await environment.makeNamespace(name)
    // Wakes the onboarding, as the Tenant controller does when it has created the namespace.
    await environment.kube.mergePatch(
      tenant,
      { name },
      { metadata: { annotations: { test: 'woken' } } },
      { fieldManager: 'test' },
    )
    await waitUntil(
      'the onboarding has ended',
      async () => {
        const [newest] = await environment.store.onboardings.ofPerson(environment.host, 1004)
        return newest?.state === 'abandoned'
      },
      { timeoutMilliseconds: limits.rollout },
    )
    expect(await environment.kube.get(installation, { namespace: name, name: 'github' })).toBeUndefined()
    expect((await auditOf('binding.denied')).at(0)).toMatchObject({ actor: environment.subjectOf('gary') })
    expect((await browser.open(`${environment.url}/onboard`)).text).toContain('the proof could not be renewed')
  })

  test('people see the tenants in which they have a role, and no others', async () => {
    const { login } = environment.organization
    const dave = await environment.signIn('dave')
    expect(dave.page.text).toContain(`/tenants/${login}`)
    expect((await dave.browser.open(`${environment.url}/tenants/${login}`)).text).toContain('You are its developer')
    const noah = await environment.signIn('noah')
    expect(noah.page.text).toContain('no role in any tenant')
    expect((await noah.browser.open(`${environment.url}/tenants/${login}`)).status).toBe(404)
  })
})
