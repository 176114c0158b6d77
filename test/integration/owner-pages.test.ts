// Owners change who has which role and end their tenant on its pages: GitHub says who is an owner at that moment, the log
// has the person first, and what a platform admin wrote stays. Against the emulator, a real store and a real API server with
// the rights of the broker; the last tests in a real browser.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Browser, BrowserPage } from '../../dev/github/testing/browser.ts'
import { install } from '../../dev/github/testing/people.ts'
import { type Application, application } from '../../src/api/apps/application.ts'
import { halt } from '../../src/api/github/halt.ts'
import { installation } from '../../src/api/github/installation.ts'
import { groups, platformNamespace, tenantRoles } from '../../src/api/names.ts'
import { type Tenant, tenant } from '../../src/api/tenancy/tenant.ts'
import { tenantRoleRules } from '../../src/api/tenancy/tenant-roles.ts'
import { mergeConditions } from '../../src/kube/object/conditions.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { openChromium } from '../browser/chromium.ts'
import { bindRole } from '../fixtures/bound-role.ts'
import { type BrokerEnvironment, bringOrganization, startBrokerEnvironment } from '../fixtures/broker-fixture.ts'
import { testAdmin } from '../fixtures/harness.ts'
import { put } from '../fixtures/put-object.ts'
import { writeStatus } from '../fixtures/write-status.ts'

let environment: BrokerEnvironment
let folder: string
let name: string
const browsers = new Map<string, Promise<Browser>>()

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sekisho-owner-pages-'))
  environment = await startBrokerEnvironment({
    seed(seed) {
      const [acme = '', globex = ''] = seed.organizations.map(({ login }) => login)
      const team = (id: number, organization: string, title: string) => ({
        ...{ id, organization, slug: title.toLowerCase(), name: title, members: [], repositories: {} },
      })
      const organizations = seed.organizations.map(one => (one.login === globex ? { ...one, members: ['noah'] } : one))
      return { ...seed, organizations, teams: [...seed.teams, team(3002, acme, 'Operations'), team(3009, globex, 'Others')] }
    },
  })
  name = environment.organization.login
  await bringOrganization(environment)
  await waitUntil('the binding', async () => (await environment.store.audit.list({ action: 'tenant.onboarded', limit: 1 }))[0])
})
afterAll(async () => {
  await environment?.stop()
  await rm(folder, { recursive: true, force: true })
})

const path = (rest: string) => `${environment.url}/tenants/${name}${rest}`
async function open(login: string, rest: string): Promise<BrowserPage> {
  const known = browsers.get(login) ?? environment.signIn(login).then(({ browser }) => browser)
  browsers.set(login, known)
  return (await known).open(path(rest))
}
const present = async (): Promise<Tenant> => (await environment.kube.get(tenant, { name })) ?? expect.fail('no Tenant')
const rolesNow = async () => (await present()).spec.roles.map(({ role, subject }) => `${subject.type}${subject.id ?? ''} ${role}`)
const recorded = (action: 'tenant.roles-changed' | 'tenant.offboarded') => environment.store.audit.list({ action, limit: 100 })
const onboarded = ['Owners admin', 'Members viewer', 'Team3001 developer']
const patch = (spec: object, fieldManager = 'kubectl-edit') =>
  environment.kube.mergePatch(tenant, { name }, { spec }, { fieldManager })
/** What a platform admin does to hand the roles back to the owners. */
const handBack = async () => {
  await patch({ roles: [{ role: 'admin', subject: { type: 'Owners' } }] }, 'sekisho-broker')
  await patch({ roles: rolesOf(onboarded) }, 'sekisho-broker')
  await waitUntil('the broker knows it', async () => (await open('olivia', '/roles')).text.includes('Developers'))
}
const rolesOf = (texts: readonly string[]) =>
  texts.map(text => {
    const [, type = '', id, role = ''] = /^([A-Za-z]+)(\d+)? (\w+)$/.exec(text) ?? []
    return { role, subject: { type, ...(id === undefined ? {} : { id: Number(id) }) } }
  })
/** Makes the member of the organisation an owner, or again a member. */
const setRole = (userId: number, role: 'admin' | 'member') =>
  environment.github.context.store.change(state => {
    const organization = state.organizations.find(({ id }) => id === environment.organization.id)
    Object.assign(organization?.memberships.find(one => one.userId === userId) ?? expect.fail('no member'), { role })
  })
/** A form of olivia's page, sent by somebody else with a secret of their own. */
async function sendAs(login: string, action: string, fields: URLSearchParams): Promise<BrowserPage> {
  const own = await open(login, '')
  const secret = /name="csrf" value="([^"]+)"/.exec(own.text)?.[1] ?? (await secretOf(login))
  fields.set('csrf', secret)
  const cookie = Object.entries((await browsers.get(login))?.cookies(environment.url) ?? {})
    .map(([key, value]) => `${key}=${value}`)
    .join('; ')
  const answer = await environment.fetch(action, { method: 'POST', headers: { cookie }, body: fields, redirect: 'manual' })
  return { status: answer.status, text: await answer.text(), url: action, form: () => expect.fail('no page') }
}
const secretOf = async (login: string) =>
  /name="csrf" value="([^"]+)"/.exec((await (await browsers.get(login))?.open(environment.url))?.text ?? '')?.[1] ?? ''

describe('roles', () => {
  test('an owner sees them, gives a team one, changes it and takes it away; each is one record with the person', async () => {
    const page = await open('olivia', '/roles')
    expect(page.text).toContain(`<h1>Roles of ${name}</h1>`)
    expect(page.text).toContain(`Owners of ${name}`)
    await page.form('Give the role').submit({ team: '3002', role: 'viewer' })
    expect(await rolesNow()).toEqual([...onboarded, 'Team3002 viewer'])
    const changed = await (await open('olivia', '/roles')).form('Change the role of team Operations').submit({ role: 'admin' })
    expect(changed.url).toBe(path('/roles'))
    expect(await rolesNow()).toEqual([...onboarded, 'Team3002 admin'])
    await (await open('olivia', '/roles')).form('Change the role of team Operations').submit({ role: 'none' })
    await (await open('olivia', '/roles')).form('Change the role of all members').submit({ role: 'none' })
    expect(await rolesNow()).toEqual(['Owners admin', 'Team3001 developer'])
    await (await open('olivia', '/roles')).form('Give all members the role').submit({ role: 'viewer' })
    await (await open('olivia', '/roles')).form('Change the role of team Developers').submit({ role: 'developer' })
    const records = (await recorded('tenant.roles-changed')).toReversed()
    expect(records.map(({ actor, outcome }) => [actor, outcome])).toEqual(
      Array.from({ length: 5 }, () => [environment.subjectOf('olivia'), 'allowed']),
    )
    expect(records[0]).toMatchObject({ namespace: name, object: `Tenant/${name}` })
    expect(records[0]?.details['rolesBefore']).toHaveLength(3)
    expect(records[0]?.details['roles']).toHaveLength(4)
    expect(records[0]?.details['roles']).toContainEqual({
      role: 'viewer',
      subject: { type: 'Team', id: 3002, name: 'operations' },
    })
  })

  test('who is no present owner changes nothing: a member, a team, another tenant’s owner, an owner who was removed', async () => {
    const form = (await open('olivia', '/roles')).form('Change the role of team Developers')
    const before = await rolesNow()
    const fields = () => new URLSearchParams([...form.fields, ['role', 'admin']])
    expect((await open('dave', '/roles')).text).toContain('change the roles here')
    expect((await open('dave', '/roles')).text).not.toContain('Give the role')
    expect((await sendAs('dave', form.action, fields())).status).toBe(403)
    expect((await sendAs('mia', form.action, fields())).status).toBe(403)
    expect((await sendAs('gary', form.action, fields())).status).toBeGreaterThanOrEqual(403)
    // Olivia's groups of a minute ago say that she is one.
    setRole(1001, 'member')
    try {
      expect((await form.submit({ role: 'admin' })).status).toBe(403)
    } finally {
      setRole(1001, 'admin')
    }
    expect(await rolesNow()).toEqual(before)
    const denied = (await recorded('tenant.roles-changed')).filter(({ outcome }) => outcome === 'denied')
    expect(denied.map(({ actor }) => actor).toSorted()).toEqual(['olivia', 'dave', 'mia'].map(environment.subjectOf).toSorted())
  })

  test('a form without the person’s secret, and one of a page that is out of date, change nothing', async () => {
    const form = (await open('olivia', '/roles')).form('Change the role of team Developers')
    expect((await form.submit({ csrf: 'x', role: 'viewer' })).status).toBe(403)
    const fresh = (await open('olivia', '/roles')).form('Change the role of team Developers')
    expect((await fresh.submit({ role: 'viewer' })).status).toBe(200)
    // Sent again, as by the back button, or recorded by somebody.
    const replayed = await fresh.submit({ role: 'admin' })
    expect([replayed.status, replayed.text]).toEqual([409, expect.stringContaining('was changed meanwhile')])
    expect(await rolesNow()).toEqual(['Owners admin', 'Team3001 viewer', 'Members viewer'])
  })

  test.each([
    ['the team of another organisation', { team: '3009', role: 'viewer' }, 409],
    ['a team that does not exist', { team: '99', role: 'admin' }, 409],
    ['all members as admins', { role: 'admin', team: [] }, 409],
    ['another role', { team: '3002', role: 'owner' }, 400],
    ['a number that is none', { team: '0x1', role: 'viewer' }, 400],
  ])('%s is refused', async (_what, fields, status) => {
    const before = await rolesNow()
    expect((await (await open('olivia', '/roles')).form('Give the role').submit(fields)).status).toBe(status)
    expect(await rolesNow()).toEqual(before)
  })

  test('a team that is gone on GitHub is shown as gone, and its role can be taken away', async () => {
    await patch(
      { roles: [...(await present()).spec.roles, { role: 'viewer', subject: { type: 'Team', id: 77, name: 'old' } }] },
      'sekisho-broker',
    )
    const page = await waitUntil('the page', async () => {
      const now = await open('olivia', '/roles')
      return now.text.includes('gone on GitHub') ? now : undefined
    })
    await page.form('Take away the role of team old').submit()
    expect(await rolesNow()).not.toContain('Team77 viewer')
  })

  test('what a platform admin wrote is shown and not changed, neither there nor by onboarding again', async () => {
    await patch({ roles: rolesOf(['Owners admin', 'Members viewer']) })
    const form = await waitUntil('the page says so', async () => {
      const page = await open('olivia', '/roles')
      return page.text.includes('a platform admin wrote the roles') ? page : undefined
    })
    expect(form.text).not.toContain('Give the role')
    const { uid = '', generation = 0 } = (await present()).metadata
    const fields = new URLSearchParams({ uid, generation: String(generation), team: '3002', role: 'admin' })
    const answer = await sendAs('olivia', path('/roles'), fields)
    expect([answer.status, answer.text]).toEqual([409, expect.stringContaining('ask a platform admin')])

    const again = await (await browsers.get('olivia'))?.open(`${environment.url}/onboard`)
    const confirm = await again?.form(`Continue with ${name}`).submit()
    expect(confirm?.text).not.toContain('name="team"')
    const before = (await environment.store.audit.list({ action: 'tenant.onboarded', limit: 100 })).length
    await confirm?.form('Update the tenant').submit({ team: ['3001', '3002'] })
    await waitUntil(
      'the record',
      async () => (await environment.store.audit.list({ action: 'tenant.onboarded', limit: 100 })).length > before,
    )
    const [newest] = await environment.store.audit.list({ action: 'tenant.onboarded', limit: 1 })
    expect(newest?.details['developerTeamIds']).toEqual([])
    expect(await rolesNow()).toEqual(['Owners admin', 'Members viewer'])
    await handBack()
    await (await open('olivia', '/roles')).form('Give the role').submit({ team: '3002', role: 'viewer' })
    expect(await rolesNow()).toContain('Team3002 viewer')
  })
})

describe('a tenant that a platform admin halts', () => {
  const key = () => ({ namespace: platformNamespace, name: `stop-${name}` })
  const pageSays = (text: string, rest: string, login = 'olivia') =>
    waitUntil('the page says so', async () => {
      const now = rest === '/' ? await (await browsers.get(login))?.open(environment.url) : await open(login, rest)
      return now?.text.includes(text) ? now : undefined
    })

  test('is shown as such with who, when and why; nothing of it changes, and it cannot be onboarded; then all is as it was', async () => {
    const before = await present()
    const form = (await open('olivia', '/roles')).form('Change the role of team Developers')
    const spec = {
      target: { type: 'Tenant', tenant: { name } },
      reason: 'it mines <coins>',
      requestedBy: environment.subjectOf('ada'),
    }
    await put(environment.kube, halt, key(), { spec } as never)
    const page = await pageSays('This tenant is halted', '')
    for (const text of ['it mines &lt;coins&gt;', environment.subjectOf('ada'), `sekisho resume stop-${name}`])
      expect(page.text).toContain(text)
    expect((await pageSays('Halted', '/')).text).toContain('it mines &lt;coins&gt;')
    expect((await pageSays('halted by Halt', '/roles')).text).not.toContain('name="role"')
    expect((await form.submit({ role: 'admin' })).status).toBe(409)
    const end = await open('olivia', '/offboard')
    expect(end.text).not.toContain('End the tenant for ever')
    const fields = new URLSearchParams({ uid: before.metadata.uid ?? '', name })
    expect((await sendAs('olivia', path('/offboard'), fields)).status).toBe(409)
    const choose = await (await browsers.get('olivia'))?.open(`${environment.url}/onboard`)
    const refused = await choose?.form(`Continue with ${name}`).submit()
    expect([refused?.status, refused?.text]).toEqual([403, expect.stringContaining('halted by Halt')])
    expect((await sendAs('olivia', path('/binding'), new URLSearchParams())).status).toBe(403)
    expect((await open('gary', '')).text).not.toContain('coins')

    await environment.kube.delete(halt, key())
    await waitUntil('it is over', async () => !(await open('olivia', '')).text.includes('This tenant is halted'))
    expect((await present()).spec).toEqual(before.spec)
    expect((await open('olivia', '/roles')).text).toContain('name="role"')
    expect((await open('olivia', '/offboard')).text).toContain('End the tenant for ever')
  })
})

describe('while the owner who bound the account is there', () => {
  const at = () => ({ namespace: name, name: 'github' })
  const bound = async () => (await environment.kube.get(installation, at())) ?? expect.fail('no Installation')
  const standing = async () => ((await bound()).spec.standIns ?? []).map(({ login }) => login)
  const records = async (action: 'installation.stand-in-added' | 'installation.stand-in-removed' | 'binding.denied') =>
    (await environment.store.audit.list({ action, limit: 100 })).map(({ actor, outcome }) => `${actor} ${outcome}`)
  const says = (login: string, text: string) =>
    waitUntil(`the page of ${login} says ${text}`, async () => {
      const now = await open(login, '')
      return now.text.includes(text) ? now : undefined
    })

  test('another owner stands in with one click for what the page shows; nobody else can; both are told, and either ends it', async () => {
    const before = await bound()
    await bindRole(await testAdmin(), { namespace: name, name: 'viewers' }, tenantRoleRules().get(tenantRoles.viewer) ?? [], [
      { kind: 'Group', name: groups.members(environment.host, environment.organization.id) },
    ])
    setRole(1002, 'admin')
    environment.advance(61)
    try {
      const page = await says('dave', 'Stand in for olivia')
      expect(page.text).toContain('When olivia no longer owns it and nobody stands in, every grant stops')
      for (const login of ['olivia', 'mia']) expect((await open(login, '')).text).not.toContain('Stand in for')
      const form = () => page.form('Stand in for olivia')

      // Nobody else, and nothing that the page did not show.
      const shown = form().fields.get('shown') ?? ''
      const denied = (await records('binding.denied')).length
      const outcomes = { mia: 403, olivia: 409, gary: 403 }
      for (const [login, status] of Object.entries(outcomes))
        expect((await sendAs(login, path('/stand-in'), new URLSearchParams({ shown }))).status, login).toBe(status)
      expect((await records('binding.denied')).length).toBe(denied + 1)
      const other = await form().submit({ shown: '0'.repeat(64) })
      expect([other.status, other.text]).toEqual([409, expect.stringContaining('the binding was changed meanwhile')])
      for (const fields of [{ shown: 'x' }, { csrf: 'x' }]) expect((await form().submit(fields)).status).toBeOneOf([400, 403])
      expect((await bound()).metadata.generation).toBe(before.metadata.generation)

      expect((await form().submit()).status).toBe(200)
      const after = await bound()
      expect(after.metadata.uid).toBe(before.metadata.uid)
      expect(after.spec).toEqual({
        ...before.spec,
        standIns: [{ id: 1002, login: 'dave', proof: { method: 'OrganizationOwner', provedAt: expect.any(String) } }],
      })
      await form().submit()
      expect((await bound()).metadata.generation).toBe(after.metadata.generation)
      expect(await records('installation.stand-in-added')).toEqual([`${environment.subjectOf('dave')} allowed`])

      // By the controllers, when olivia left: nothing stops, and the take-over is there.
      const holds = { type: 'Ready', status: 'True', reason: 'Verified', message: 'dave stands in' } as const
      const conditions = mergeConditions([], [holds], after.metadata.generation ?? 0, new Date())
      await writeStatus(await testAdmin(), installation, at(), { conditions, standIn: { id: 1002, login: 'dave' } })
      const answered = await says('dave', 'dave stands in for olivia')
      expect(answered.text).toContain('Take over the binding')
      expect(answered.text).not.toContain('Stand in for olivia')
      await writeStatus(await testAdmin(), installation, at(), { conditions })

      expect((await sendAs('mia', path('/stand-in/withdraw'), new URLSearchParams({ person: '1002' }))).status).toBe(403)
      expect(await standing()).toEqual(['dave'])
      await (await says('olivia', 'Withdraw dave')).form('Withdraw dave').submit()
      expect(await standing()).toEqual([])
      await (await says('dave', 'Stand in for olivia')).form('Stand in for olivia').submit()
      setRole(1002, 'member')
      expect((await sendAs('dave', path('/stand-in/withdraw'), new URLSearchParams({ person: '1002' }))).status).toBe(303)
      expect(await standing()).toEqual([])
      expect(await records('installation.stand-in-removed')).toEqual([
        `${environment.subjectOf('dave')} allowed`,
        `${environment.subjectOf('olivia')} allowed`,
        `${environment.subjectOf('mia')} denied`,
      ])
    } finally {
      setRole(1002, 'member')
      environment.advance(61)
    }
  })

  test('onboarding again with the same ceiling keeps who stands in; an Installation that is replaced has nobody', async () => {
    const proof = { method: 'OrganizationOwner', provedAt: new Date().toISOString() }
    const standIns = [{ id: 1002, login: 'dave', proof }]
    await environment.kube.mergePatch(installation, at(), { spec: { standIns } }, { fieldManager: 'sekisho-broker' })
    const { uid } = (await bound()).metadata
    expect((await sendAs('olivia', path('/binding'), new URLSearchParams())).status).toBe(303)
    expect(await standing()).toEqual(['dave'])
    expect((await bound()).metadata.uid).toBe(uid)
  })
})

describe('when the owner who bound the account is none any more', () => {
  test('another owner takes the binding over with one click; nobody else can', async () => {
    const at = { namespace: name, name: 'github' }
    const before = (await environment.kube.get(installation, at)) ?? expect.fail('no Installation')
    const roles = await rolesNow()
    const lost = { type: 'Ready', status: 'False', reason: 'BinderNoLongerOwner', message: 'olivia is gone' } as const
    const conditions = mergeConditions([], [lost], 1, new Date())
    await writeStatus(await testAdmin(), installation, at, { conditions })
    await bindRole(await testAdmin(), { namespace: name, name: 'viewers' }, tenantRoleRules().get(tenantRoles.viewer) ?? [], [
      { kind: 'Group', name: groups.members(environment.host, environment.organization.id) },
    ])
    setRole(1001, 'member')
    setRole(1002, 'admin')
    // The groups that the broker remembers are forgotten.
    environment.advance(61)
    try {
      const page = await waitUntil('the button', async () => {
        const now = await open('dave', '')
        return now.text.includes('Take over the binding') ? now : undefined
      })
      expect((await open('mia', '')).text).not.toContain('Take over the binding')
      const denied = async () => (await environment.store.audit.list({ action: 'binding.denied', limit: 100 })).length
      const refusals = await denied()
      for (const login of ['mia', 'olivia', 'gary'])
        expect((await sendAs(login, path('/binding'), new URLSearchParams())).status, login).toBe(403)
      expect(await denied()).toBe(refusals + 2)
      await page.form('Take over the binding').submit()
      const after = await waitUntil('the new Installation', async () => {
        const found = await environment.kube.get(installation, at)
        return found?.metadata.uid === before.metadata.uid ? undefined : found
      })
      expect(after.spec).toMatchObject({ boundBy: { id: 1002, login: 'dave' }, ceiling: before.spec.ceiling })
      expect(before.spec.standIns).toHaveLength(1)
      expect(after.spec.standIns).toBeUndefined()
      expect(await rolesNow()).toEqual(roles)
    } finally {
      setRole(1001, 'admin')
      setRole(1002, 'member')
      environment.advance(61)
    }
  })
})

test('a member’s request ends by itself when the organisation was onboarded, and the page says what is', async () => {
  const globex = environment.github.context.state.organizations.find(({ login }) => login.startsWith('globex'))
  const { id, login } = globex ?? expect.fail('no globex')
  const { browser: noah, page } = await environment.signIn('noah', '/onboard')
  noah.stops.push(`${environment.github.url}/github-apps/`)
  const state = new URL((await page.form('Install the App on GitHub').submit()).url).searchParams.get('state') ?? ''
  noah.stops.length = 0
  await install(environment.github, noah, id, { repositoryIds: 'all', state, button: 'Request' })
  const { browser: gary } = await environment.signIn('gary')
  await install(environment.github, gary, id, { repositoryIds: 'all' })
  const states = async () => (await environment.store.onboardings.ofPerson(environment.host, 1005)).map(one => one.state)
  await waitUntil('an owner is needed', async () => (await states()).includes('needs-owner'))
  expect((await noah.open(`${environment.url}/onboard`)).text).toContain('waiting for an owner of the organisation')

  const confirm = await (await gary.open(`${environment.url}/onboard`)).form(`Continue with ${login}`).submit()
  await confirm.form('Create the tenant').submit()
  await environment.makeNamespace(login)
  const told = await waitUntil('the row is gone', async () => {
    const now = await noah.open(`${environment.url}/onboard`)
    return now.text.includes('Your onboardings') ? undefined : now
  })
  expect(told.text).toContain(`It has the tenant <a href="/tenants/${login}">${login}</a>`)
  expect(await states()).toEqual(['abandoned'])
})

describe('when another App of the pool is installed on the account', () => {
  const named = () => ({ namespace: name, name: 'github' })
  const boundTo = async () =>
    (await environment.kube.list(installation, { namespace: name })).filter(({ metadata }) => metadata.name !== 'github')
  /** What the controllers found with the keys of the Apps. */
  const found = async (otherApps: readonly object[]) => {
    const { status } = (await environment.kube.get(installation, named())) ?? expect.fail('no Installation')
    await writeStatus(await testAdmin(), installation, named(), { ...status, otherApps })
  }
  const second = {
    app: 'second',
    installationId: 4711,
    permissions: { contents: 'read', administration: 'write', metadata: 'read' },
  }
  const bind = (login: string, fields: Record<string, string>) => sendAs(login, path('/apps'), new URLSearchParams(fields))
  const denials = async () => (await environment.store.audit.list({ action: 'binding.denied', limit: 100 })).length

  test('its owner binds it with one click: proved, recorded, and never above what was confirmed', async () => {
    expect((await open('olivia', '')).text).not.toContain('Bind the App')
    expect((await bind('olivia', { app: 'second' })).status).toBe(409)
    await found([second])
    const page = await waitUntil('the button', async () => {
      const now = await open('olivia', '')
      return now.text.includes('The App second is installed on') ? now : undefined
    })
    expect((await open('dave', '')).text).not.toContain('Bind the App')

    // Nobody else, nothing else: the number of an installation is never a claim of the person.
    const refusals = await denials()
    for (const login of ['mia', 'dave', 'gary'])
      expect((await bind(login, { app: 'second' })).status, login).toBeOneOf([403, 404])
    expect(await denials()).toBeGreaterThan(refusals)
    for (const fields of [{ app: 'third' }, { app: '../github' }])
      expect([400, 409]).toContain((await bind('olivia', fields)).status)
    expect(await boundTo()).toEqual([])

    const first = (await environment.kube.get(installation, named())) ?? expect.fail('no Installation')
    const click = () => page.form('Bind the App second').submit()
    await Promise.all([click(), click()])
    const [bound, ...others] = await boundTo()
    expect(others).toEqual([])
    expect(bound).toMatchObject({
      metadata: { name: 'github-second' },
      spec: {
        app: 'second',
        installationId: 4711,
        account: { host: environment.host, id: environment.organization.id },
        boundBy: { id: 1001, login: 'olivia' },
        proof: { method: 'OrganizationOwner' },
        ceiling: { ...first.spec.ceiling, permissions: { contents: 'read', metadata: 'read' } },
      },
    })
    const [record] = await environment.store.audit.list({ action: 'installation.added', limit: 1 })
    expect(record).toMatchObject({ actor: environment.subjectOf('olivia'), object: `Installation/${name}/github-second` })
    await waitUntil('the button is gone', async () => !(await open('olivia', '')).text.includes('Bind the App'))

    // Another installation of that App: the former binding ends first.
    await found([{ ...second, installationId: 4712 }])
    await waitUntil('the button is back', async () => (await open('olivia', '')).text.includes('Bind the App'))
    expect((await bind('olivia', { app: 'second' })).status).toBe(409)
    await waitUntil('the former one is gone', async () => (await boundTo()).length === 0)
    expect((await bind('olivia', { app: 'second' })).status).toBe(303)
    expect((await boundTo()).map(({ spec }) => spec.installationId)).toEqual([4712])
  })

  test('the page of an owner binds the Installation of onboarding anew, and ends the sibling, which had the former ceiling', async () => {
    expect((await sendAs('olivia', path('/binding'), new URLSearchParams())).status).toBe(303)
    await waitUntil('the sibling is gone', async () => (await boundTo()).length === 0)
    const records = await environment.store.audit.list({ action: 'installation.replaced', limit: 10 })
    const ended = records.find(({ details }) => details['installationId'] === 4712)
    expect(ended).toMatchObject({ actor: environment.subjectOf('olivia'), object: `Installation/${name}/github-second` })
    expect(ended?.details['onboarding']).toBeTypeOf('string')
  })
})

describe('in a real browser', () => {
  test('an owner gives a team a role and finds the end of the tenant, on a wide screen and on a phone', async () => {
    const chromium = await openChromium(join(folder, 'browser'), 'olivia', { scripts: false })
    const { page, errors } = chromium
    try {
      await page.goto(`${environment.github.url}/login`)
      await page.getByRole('button', { name: 'Sign in as olivia' }).click()
      for (const width of [1280, 390]) {
        await page.setViewportSize({ width, height: 800 })
        await page.goto(path(''))
        await page.getByRole('link', { name: 'Change who has which role' }).click()
        await page.getByRole('heading', { name: `Roles of ${name}` }).waitFor()
        await page.getByLabel('Role of team Developers').selectOption(width === 1280 ? 'admin' : 'developer')
        await page.getByRole('button', { name: 'Change the role of team Developers' }).click()
        await page.getByRole('heading', { name: `Roles of ${name}` }).waitFor()
        expect(await rolesNow()).toContain(`Team3001 ${width === 1280 ? 'admin' : 'developer'}`)
        expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).toBe(true)
        await chromium.picture(`roles-${width}`)
        await page.getByRole('link', { name: 'See what would end' }).click()
        expect(await page.getByLabel('Type the name of the tenant').inputValue()).toBe('')
        expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).toBe(true)
        await chromium.picture(`offboard-${width}`)
      }
      expect(errors).toEqual([])
    } finally {
      await chromium.close()
    }
  })
})

describe('the end of a tenant', () => {
  test('lists what ends, and needs the name, an owner and the form of this tenant', async () => {
    const volumes = [{ name: 'data', size: '1Gi', path: '/data' }]
    await put<Application>(environment.kube, application, { namespace: name, name: 'shop' }, { spec: { volumes } } as never)
    const page = await open('olivia', '/offboard')
    for (const text of ['shop/data', '(1Gi)', 'Live tokens of GitHub']) expect(page.text).toContain(text)
    const wrong = await page.form('End the tenant for ever').submit({ name: `${name}x` })
    expect([wrong.status, wrong.text]).toEqual([409, expect.stringContaining('nothing was ended')])
    expect((await page.form('End the tenant for ever').submit({ name: '' })).status).toBe(409)
    expect((await open('dave', '/offboard')).status).toBe(403)
    const form = page.form('End the tenant for ever')
    form.fields.set('name', name)
    // Gary owns another tenant by now: of this one he sees nothing.
    for (const [login, status] of [
      ['dave', 403],
      ['gary', 404],
    ] as const)
      expect((await sendAs(login, form.action, new URLSearchParams(form.fields))).status).toBe(status)
    const roles = new URLSearchParams({ uid: form.fields.get('uid') ?? '', generation: '1', team: '3001', role: 'admin' })
    expect((await sendAs('gary', path('/roles'), roles)).status).toBe(404)
    const other = { uid: '00000000-0000-4000-8000-000000000000', name }
    expect((await page.form('End the tenant for ever').submit(other)).status).toBe(409)
    expect((await page.form('End the tenant for ever').submit({ csrf: 'x', name })).status).toBe(403)
    expect((await present()).metadata.deletionTimestamp).toBeUndefined()
    expect((await recorded('tenant.offboarded')).map(({ actor, outcome }) => [actor, outcome])).toEqual([
      [environment.subjectOf('dave'), 'denied'],
    ])
  })

  test('an owner ends it: recorded with the person, and the Tenant is gone', async () => {
    const { uid } = (await present()).metadata
    const end = await (await open('olivia', '/offboard')).form('End the tenant for ever').submit({ name })
    expect(end.url).toBe(`${environment.url}/`)
    expect((await recorded('tenant.offboarded'))[0]).toMatchObject({
      actor: environment.subjectOf('olivia'),
      outcome: 'allowed',
      namespace: name,
      details: { uid, login: 'olivia' },
    })
    await waitUntil('the Tenant is gone', async () => (await environment.kube.get(tenant, { name })) === undefined)
  })
})
