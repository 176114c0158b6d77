// Attacks on the broker's endpoints: onboarding, sign-in, the issuer, webhooks. Each test is an attack and its required
// outcome; none may create anything in the cluster.
import { createHmac, randomBytes } from 'node:crypto'
import { connect } from 'node:tls'
import { SignJWT, UnsecuredJWT } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { Browser } from '../../dev/github/testing/browser.ts'
import { install } from '../../dev/github/testing/people.ts'
import { tenant } from '../../src/api/tenancy/tenant.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { type BrokerEnvironment, startBrokerEnvironment } from '../fixtures/broker-fixture.ts'

let environment: BrokerEnvironment
/** The installation that the owner of acme made; it is not bound. */
let target: number

/** Signs in and begins an onboarding: a callback needs both, besides the installation. */
async function begun(login: string): Promise<{ readonly browser: Browser; readonly state: string }> {
  const { browser, page } = await environment.signIn(login, '/onboard')
  browser.stops.push(`${environment.github.url}/github-apps/`)
  const state = new URL((await page.form('Install the App on GitHub').submit()).url).searchParams.get('state') ?? ''
  browser.stops.length = 0
  return { browser, state }
}

function callback(state: string, installation: string, rest = ''): string {
  return `${environment.url}/onboard/callback?setup_action=install&state=${state}&installation_id=${installation}${rest}`
}

const denied = async () => (await environment.store.audit.list({ action: 'binding.denied', limit: 100 })).length
const github = () => environment.github.context.state
const change = (work: () => void): void => environment.github.context.store.change(work)
const installationOnGitHub = (id: number) => {
  const found = github().installations.find(one => one.id === id)
  if (found === undefined) throw new Error('no such installation')
  return found
}

beforeAll(async () => {
  environment = await startBrokerEnvironment({
    seed: seed => ({
      ...seed,
      teams: [
        ...seed.teams,
        {
          id: 3002,
          organization: seed.organizations[0]?.login ?? '',
          slug: 'system-masters',
          name: 'system:masters',
          members: ['dave'],
          repositories: {},
        },
      ],
    }),
  })
  const { browser } = await environment.signIn('olivia')
  await install(environment.github, browser, environment.organization.id, { repositoryIds: 'all' })
  target = github().installations[0]?.id ?? 0
  expect(target).toBeGreaterThan(0)
})
afterAll(() => environment.stop())

describe('binding an installation that is not yours', () => {
  let before = 0
  beforeEach(async () => {
    before = await denied()
  })

  async function expectRefused(login: string, installationId: number, check: string): Promise<void> {
    const { browser, state } = await begun(login)
    const answer = await browser.open(callback(state, String(installationId)))
    expect(answer.status).toBe(403)
    const [entry] = await environment.store.audit.list({ action: 'binding.denied', limit: 1 })
    expect(await denied()).toBe(before + 1)
    expect(entry).toMatchObject({ actor: environment.subjectOf(login), outcome: 'denied', details: { check, installationId } })
    expect((await environment.kube.list(tenant)).filter(item => item.spec.account.host === environment.host)).toEqual([])
  }

  test('a stranger who guesses the id is refused', () => expectRefused('noah', target, 'Visible'))
  test('the owner of another organisation is refused', () => expectRefused('gary', target, 'Visible'))
  test('a plain member, who sees the installation, is refused', () => expectRefused('mia', target, 'ActiveOwner'))
  test('a person who was only invited as owner is refused', async () => {
    const organization = github().organizations.find(({ id }) => id === environment.organization.id)
    change(() => organization?.memberships.push({ userId: 1005, role: 'admin', state: 'pending' }))
    await expectRefused('noah', target, 'Visible')
    change(() => organization?.memberships.pop())
  })
  test('a suspended installation is refused, even to its owner', async () => {
    change(() => Object.assign(installationOnGitHub(target), { suspendedAt: new Date().toISOString(), suspendedById: 1001 }))
    try {
      const { browser, state } = await begun('olivia')
      expect((await browser.open(callback(state, String(target)))).status).toBe(403)
      expect(await denied()).toBe(before + 1)
    } finally {
      change(() => Object.assign(installationOnGitHub(target), { suspendedAt: null, suspendedById: null }))
    }
  })
  test("another person's user account is refused", async () => {
    const { browser } = await environment.signIn('noah')
    await install(environment.github, browser, 1005, { repositoryIds: 'all' })
    const own = github().installations.find(({ accountId }) => accountId === 1005)
    await expectRefused('gary', own?.id ?? 0, 'Visible')
  })
  test('the form for installed accounts requires the same proof', async () => {
    const { browser, page } = await environment.signIn('mia', '/onboard')
    const csrf = page.form('Install the App on GitHub').fields.get('csrf') ?? ''
    const cookie = Object.entries(browser.cookies(environment.url))
      .map(pair => pair.join('='))
      .join('; ')
    const body = new URLSearchParams({ csrf, installation_id: String(target) })
    const answer = await environment.fetch(`${environment.url}/onboard/installed`, {
      method: 'POST',
      headers: { cookie },
      body,
      redirect: 'manual',
    })
    expect(answer.status).toBe(403)
  })
})

describe('malformed callbacks', () => {
  test.each(['123abc', '0x1F', '-1', '1e3', '', '0', '99999999999999999999', '1.5', '１２'])(
    'installation_id=%s is refused',
    async text => {
      const { browser, state } = await begun('gary')
      expect((await browser.open(callback(state, encodeURIComponent(text)))).status).toBe(400)
    },
  )
  test('installation_id twice or as a list is refused', async () => {
    const { browser, state } = await begun('gary')
    for (const rest of [`&installation_id=${target}`, `&installation_id[]=${target}`])
      expect([400, 403]).toContain((await browser.open(callback(state, '1', rest))).status)
  })
  test('an answer without a state, as GitHub sends it after an owner approved a request, binds nothing and offers to continue', async () => {
    const { browser } = await environment.signIn('olivia', '/onboard')
    const before = await environment.store.onboardings.ofPerson(environment.host, 1001)
    for (const action of ['install', 'update']) {
      const page = await browser.open(`${environment.url}/onboard/callback?setup_action=${action}&installation_id=${target}`)
      expect([page.status, new URL(page.url).pathname]).toEqual([200, '/onboard'])
      expect(page.text).toContain('Continue with acme')
    }
    expect(await environment.store.onboardings.ofPerson(environment.host, 1001)).toEqual(before)
  })
  test('an invented state, a used one, and one of another session are refused', async () => {
    const { browser, state } = await begun('olivia')
    await browser.open(`${environment.url}/onboard/callback?setup_action=install&installation_id=${target}`)
    const again = await begun('olivia')
    expect((await again.browser.open(callback(randomBytes(32).toString('base64url'), String(target)))).status).toBe(400)
    const gary = await begun('gary')
    expect((await gary.browser.open(callback(state, String(target)))).status).toBe(400)
    const used = await begun('olivia')
    expect((await used.browser.open(callback(used.state, String(target)))).text).toContain('Onboard acme')
    expect((await used.browser.open(callback(used.state, String(target)))).status).toBe(400)
    expect(browser.cookies(environment.url)['__Host-sekisho-onboarding']).toBeUndefined()
  })
  test("another person's proved onboarding cannot be confirmed", async () => {
    const { browser, state } = await begun('olivia')
    const confirm = await browser.open(callback(state, String(target)))
    const onboarding = new URL(confirm.url).searchParams.get('onboarding') ?? ''
    const mia = await environment.signIn('mia', '/onboard')
    expect((await mia.browser.open(`${environment.url}/onboard/confirm?onboarding=${onboarding}`)).status).toBe(404)
  })
  test('a team of another organisation cannot be made developers', async () => {
    const { browser, state } = await begun('olivia')
    const confirm = await browser.open(callback(state, String(target)))
    expect((await confirm.form('Create the tenant').submit({ team: '4711' })).status).toBe(400)
    expect((await environment.kube.list(tenant)).filter(item => item.spec.account.host === environment.host)).toEqual([])
  })
})

describe('an owner is asked', () => {
  test('the request waits, and the installation webhook alone does not bind anything', async () => {
    const { browser, state } = await begun('mia')
    const id = github().installations.find(({ accountId }) => accountId === environment.organization.id)?.id
    change(() => {
      Object.assign(github(), { installations: github().installations.filter(one => one.id !== id) })
    })
    const waiting = await install(environment.github, browser, environment.organization.id, {
      repositoryIds: 'all',
      state,
      button: 'Request',
    })
    expect(waiting.text).toContain('An owner was asked')
    const ofMia = async () => (await environment.store.onboardings.ofPerson(environment.host, 1003)).map(item => item.state)
    expect(await ofMia()).toEqual(['waiting-for-approval'])
    expect((await browser.open(`${environment.url}/onboard`)).text).toContain(
      'waiting for an owner of the organisation, whom GitHub',
    )
    const before = await denied()

    const owner = await environment.signIn('olivia')
    await install(environment.github, owner.browser, environment.organization.id, { repositoryIds: 'all' })
    await waitUntil('the refusal', async () => (await denied()) > before)
    await waitUntil('the outcome', async () => (await ofMia()).includes('needs-owner'))
    const told = (await browser.open(`${environment.url}/onboard`)).text
    expect(told).toContain(`an owner has installed the App on ${environment.organization.login}`)
    expect(told).toMatch(/Only an owner can onboard the organisation: ask one of them to sign in here/)
    expect((await environment.kube.list(tenant)).filter(item => item.spec.account.host === environment.host)).toEqual([])
    target = github().installations.find(({ accountId }) => accountId === environment.organization.id)?.id ?? 0
  })
})

describe('sign-in', () => {
  /** A browser that GitHub has just redirected, stopped before our callback. */
  async function answered(login: string): Promise<{ readonly browser: Browser; readonly answer: URL }> {
    const { browser } = await environment.signIn(login)
    browser.stops.push(`${environment.url}/login/callback`)
    return { browser, answer: new URL((await browser.open(`${environment.url}/login`)).url) }
  }
  const open = async (browser: Browser, url: URL) => {
    browser.stops.length = 0
    return browser.open(url.href)
  }
  const without = (url: URL, name: string): URL => {
    const copy = new URL(url)
    copy.searchParams.delete(name)
    return copy
  }

  test('an answer without code or without state is refused', async () => {
    const first = await answered('gary')
    expect((await open(first.browser, without(first.answer, 'state'))).status).toBe(400)
    const second = await answered('gary')
    expect((await open(second.browser, without(second.answer, 'code'))).status).toBe(400)
  })
  test('a replayed answer is refused', async () => {
    const { browser, answer } = await answered('gary')
    expect((await open(browser, answer)).status).toBe(200)
    expect((await open(browser, answer)).status).toBe(400)
  })
  test("an attacker's answer in the victim's browser signs nobody in (login CSRF)", async () => {
    const attacker = await answered('noah')
    const victim = await environment.signIn('olivia')
    expect((await victim.browser.open(attacker.answer.href)).status).toBe(400)
    expect((await victim.browser.open(environment.url)).text).toContain('Signed in as <strong>olivia</strong>')
    const fresh = environment.browser()
    expect((await fresh.open((await answered('noah')).answer.href)).status).toBe(400)
    expect(fresh.cookies(environment.url)['__Host-sekisho-session']).toBeUndefined()
  })
  test('a code of one attempt does not work in another: the PKCE verifier does not match', async () => {
    const { browser, answer: first } = await answered('gary')
    browser.stops.push(`${environment.url}/login/callback`)
    const second = new URL((await browser.open(`${environment.url}/login`)).url)
    second.searchParams.set('code', first.searchParams.get('code') ?? '')
    expect((await open(browser, second)).status).toBe(400)
    expect((await environment.store.audit.list({ action: 'session.refused', limit: 10 })).length).toBeGreaterThan(0)
  })
  test('a state after its ten minutes is refused', async () => {
    const { browser, answer } = await answered('gary')
    environment.advance(601)
    expect((await open(browser, answer)).status).toBe(400)
  })
  test.each([
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    'javascript:alert(1)',
    '/%2f/evil',
    '/.//evil.example',
    '/x/..//evil.example',
    '/%2e%2e//evil.example',
    '/a\tb',
  ])('return_to=%s is refused', async text => {
    const answer = await environment.fetch(`${environment.url}/login?return_to=${encodeURIComponent(text)}`, {
      redirect: 'manual',
    })
    expect(answer.status).toBe(400)
    expect(answer.headers.get('location')).toBeNull()
  })
})

describe('tokens that the issuer did not make', () => {
  const whoami = (token: string) =>
    environment.fetch(`${environment.url}/api/v1/whoami`, { headers: { authorization: `Bearer ${token}` } })
  const claims = () => ({
    iss: environment.url,
    aud: 'kubernetes',
    sub: environment.subjectOf('olivia'),
    groups: ['system:masters'],
    iat: 1,
    exp: 4_000_000_000,
  })

  test('alg none is refused', async () => {
    expect((await whoami(new UnsecuredJWT(claims()).encode())).status).toBe(401)
  })
  test('HS256 keyed with the public key, a wrong kid and a jku header are refused', async () => {
    const keys = (await (await environment.fetch(`${environment.url}/oidc/jwks`)).json()) as {
      keys: { kid: string; d?: string }[]
    }
    expect(keys.keys).toHaveLength(3)
    expect(keys.keys.every(key => key.d === undefined)).toBe(true)
    const [{ kid } = { kid: '' }] = keys.keys
    const secret = new TextEncoder().encode(JSON.stringify(keys.keys[0]))
    for (const header of [
      { alg: 'HS256', kid },
      { alg: 'HS256', kid: 'other' },
      { alg: 'HS256', kid, jku: 'https://evil.example/jwks' },
    ])
      expect((await whoami(await new SignJWT(claims()).setProtectedHeader(header).sign(secret))).status).toBe(401)
  })
  test('a request without a bearer token is unauthenticated, and a session cookie is not a bearer token', async () => {
    expect((await environment.fetch(`${environment.url}/api/v1/whoami`)).status).toBe(401)
    const { browser } = await environment.signIn('olivia')
    const cookie = Object.entries(browser.cookies(environment.url))
      .map(pair => pair.join('='))
      .join('; ')
    expect((await environment.fetch(`${environment.url}/api/v1/audit`, { headers: { cookie } })).status).toBe(401)
  })
})

describe('webhooks', () => {
  const send = (body: string | Buffer, headers: Record<string, string>) =>
    environment.fetch(`${environment.url}/webhooks/github`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', ...headers },
    })
  const signature = (body: string) =>
    `sha256=${createHmac('sha256', environment.github.app.webhookSecret).update(body).digest('hex')}`
  const push = JSON.stringify({
    ref: 'refs/heads/main',
    before: 'a',
    after: 'b',
    repository: { id: 4001, full_name: 'x/y' },
    sender: { id: 1 },
  })
  const ours = () => ({
    'x-github-hook-installation-target-id': String(environment.github.app.id),
    'x-github-hook-installation-target-type': 'integration',
    'x-github-enterprise-host': new URL(environment.github.url).host,
  })
  const named = (event: string, id = randomBytes(16).toString('hex')) => ({ 'x-github-event': event, 'x-github-delivery': id })

  test('a genuine delivery is stored once, however often it is sent', async () => {
    const headers = { ...named('push'), 'x-hub-signature-256': signature(push) }
    const first = await send(push, headers)
    expect(first.status).toBe(202)
    expect(await first.json()).toEqual({ delivery: 'stored' })
    expect(await (await send(push, headers)).json()).toEqual({ delivery: 'duplicate' })
    const received = async () =>
      (await environment.store.audit.list({ action: 'webhook.received', limit: 100 })).filter(
        entry => entry.object === `Webhook/${headers['x-github-delivery']}`,
      )
    await waitUntil('it is handled', async () => (await received()).length > 0)
    expect(await received()).toHaveLength(1)
  })
  test.each([
    ['no signature', (): Record<string, string> => ({})],
    [
      'SHA-1 only',
      () => ({
        'x-hub-signature': `sha1=${createHmac('sha1', environment.github.app.webhookSecret).update(push).digest('hex')}`,
      }),
    ],
    ['a wrong one', () => ({ 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` })],
    ['upper-case hex', () => ({ 'x-hub-signature-256': signature(push).toUpperCase().replace('SHA256', 'sha256') })],
    ['one over the re-serialised body', () => ({ 'x-hub-signature-256': signature(JSON.stringify(JSON.parse(push), null, 1)) })],
    ['one over another body', () => ({ 'x-hub-signature-256': signature(push.replace('4001', '4002')) })],
  ])('%s is refused and recorded', async (_name, headers) => {
    expect((await send(push, { ...named('push'), ...headers() })).status).toBe(401)
    const refusals = await environment.store.audit.list({ action: 'webhook.refused', limit: 100 })
    expect(refusals.length).toBeGreaterThan(0)
  })
  test.each<[string, Record<string, string>]>([
    ['of another App', { 'x-github-hook-installation-target-id': '999999' }],
    ['of a repository’s own webhook', { 'x-github-hook-installation-target-type': 'repository' }],
    ['of another host', { 'x-github-enterprise-host': 'ghe.example.com' }],
  ])('a signed delivery %s is not stored', async (_name, target) => {
    const headers = { ...named('push'), ...target, 'x-hub-signature-256': signature(push) }
    const answer = await send(push, headers)
    expect([answer.status, await answer.json()]).toEqual([202, { delivery: 'ignored' }])
    const again = await send(push, { ...headers, ...named('push', headers['x-github-delivery']), ...ours() })
    expect(await again.json()).toEqual({ delivery: 'stored' })
  })
  test('a push body under the name of another event is refused', async () => {
    expect((await send(push, { ...named('installation'), 'x-hub-signature-256': signature(push) })).status).toBe(400)
  })
  test('a delivery that is form-encoded is refused with the setting to change, which the audit log shows', async () => {
    const body = new URLSearchParams({ payload: push }).toString()
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const setting = /Content type: application\/json/
    const answer = await send(body, { ...named('push'), ...form, 'x-hub-signature-256': signature(body) })
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringMatching(setting)])
    const [refused] = await environment.store.audit.list({ action: 'webhook.refused', limit: 1 })
    expect(refused?.reason).toMatch(setting)
    // A stranger learns nothing.
    const unsigned = await send(body, { ...named('push'), ...form, 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` })
    expect([unsigned.status, await unsigned.text()]).toEqual([401, expect.not.stringMatching(setting)])
  })
  test('bytes that are not UTF-8 are refused', async () => {
    const body = Buffer.from([0x7b, 0xff, 0xfe, 0x7d])
    const signed = `sha256=${createHmac('sha256', environment.github.app.webhookSecret).update(body).digest('hex')}`
    expect((await send(body, { ...named('push'), 'x-hub-signature-256': signed })).status).toBe(400)
  })
  test('more than 25 MB is refused', async () => {
    const body = `{"a":"${'x'.repeat(26 * 1024 * 1024)}"}`
    const status = await send(body, { ...named('push'), 'x-hub-signature-256': signature(body) }).then(
      answer => answer.status,
      () => 413,
    )
    expect(status).toBe(413)
  })
})

describe('floods', () => {
  const send = (body: string, signature: string) =>
    environment.fetch(`${environment.url}/webhooks/github`, {
      method: 'POST',
      body,
      headers: {
        'content-type': 'application/json',
        'x-github-event': 'push',
        'x-github-delivery': randomBytes(16).toString('hex'),
        'x-hub-signature-256': signature,
      },
    })
  const genuine = (body: string) =>
    `sha256=${createHmac('sha256', environment.github.app.webhookSecret).update(body).digest('hex')}`
  const wrong = `sha256=${'0'.repeat(64)}`
  const push = JSON.stringify({
    ref: 'refs/heads/main',
    before: 'a',
    after: 'b',
    repository: { id: 4001, full_name: 'x/y' },
    sender: { id: 1 },
  })
  /** Ten at a time, so that it is the number that counts. */
  async function flood(count: number, one: () => Promise<{ readonly status: number }>): Promise<readonly number[]> {
    const statuses: number[] = []
    for (let sent = 0; sent < count; sent += 10)
      statuses.push(...(await Promise.all(Array.from({ length: 10 }, one))).map(({ status }) => status))
    return statuses
  }

  test('2,000 unsigned deliveries do not stop a signed one from the same address, and cost a dozen records', async () => {
    const refusals = async () => (await environment.store.audit.list({ action: 'webhook.refused', limit: 1000 })).length
    const before = await refusals()
    const statuses = await flood(2000, async () => {
      const answer = await send(push, wrong)
      await answer.arrayBuffer()
      return answer
    })
    expect(new Set(statuses)).toEqual(new Set([401]))
    expect((await send(push, genuine(push))).status).toBe(202)
    const large = JSON.stringify({ ...JSON.parse(push), commits: 'x'.repeat(200_000) })
    expect((await send(large, genuine(large))).status).toBe(202)
    expect((await refusals()) - before).toBeLessThanOrEqual(40)
  })

  test('200 slow large bodies do not stop a signed large one', async () => {
    const { hostname, port } = new URL(environment.url)
    const sockets = Array.from({ length: 200 }, () =>
      connect({ host: hostname, port: Number(port), ca: environment.certificateAuthority }),
    )
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy()
    })
    for (const socket of sockets) {
      socket.on('error', () => socket.destroy())
      socket.write(
        `POST /webhooks/github HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 2000000\r\nx-hub-signature-256: ${wrong}\r\n\r\n{"a":"`,
      )
    }
    // Only 64 may arrive at once.
    await waitUntil('the slowest are ended', async () => sockets.filter(socket => socket.destroyed).length >= 100)
    const large = JSON.stringify({ ...JSON.parse(push), commits: 'x'.repeat(5_000_000) })
    expect((await send(large, genuine(large))).status).toBe(202)
  })

  test('500 sign-ins that nobody ends do not stop anybody, and leave no row', async () => {
    const statuses = await flood(500, () => environment.fetch(`${environment.url}/login`, { redirect: 'manual' }))
    expect(new Set(statuses)).toEqual(new Set([303]))
    const { browser } = await environment.signIn('dave')
    expect((await browser.open(environment.url)).text).toContain('Signed in as <strong>dave</strong>')
    environment.advance(3600)
    expect(await environment.store.sessions.deleteExpired(new Date(Date.now() + 1_800_000))).toBeLessThan(50)
  })

  test('a person who signed in here before is not limited by what strangers at the same address do', async () => {
    const { browser } = await environment.signIn('mia')
    const cookie = Object.entries(browser.cookies(environment.url))
      .map(pair => pair.join('='))
      .join('; ')
    const home = (headers: Record<string, string>) => environment.fetch(environment.url, { headers, redirect: 'manual' })
    expect(await flood(1300, () => home({}))).toContain(429)
    expect((await home({ cookie })).status).toBe(200)
    // A cookie that somebody made up proves nobody.
    expect((await home({ cookie: cookie.replace(/(__Host-sekisho-known=[^.]+)\.[^;]+/, '$1.AAAA') })).status).toBe(429)
  })

  test('API servers get the signing keys, whatever strangers at the same address do', async () => {
    const paths = ['/.well-known/openid-configuration', '/oidc/jwks']
    for (const path of paths)
      expect(new Set(await flood(1500, () => environment.fetch(environment.url + path)))).toEqual(new Set([200]))
    expect(await flood(700, () => environment.fetch(`${environment.url}/oidc/token`, { method: 'POST' }))).toContain(429)
    for (const path of paths) expect((await environment.fetch(environment.url + path)).status).toBe(200)
  })
})
