// Sign-ins that end for good: after a withdrawal of the App, after an admin's revocation and after signing out everywhere,
// nothing that somebody copied before works again, also not after the person's next sign-in.
import { createHmac, randomBytes } from 'node:crypto'
import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Browser } from '../../dev/github/testing/browser.ts'
import { installation } from '../../src/api/github/installation.ts'
import { issuerSessionCookie } from '../../src/identity/oidc/issuer-configuration.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { type BrokerEnvironment, bringOrganization, startBrokerEnvironment } from '../fixtures/broker-fixture.ts'
import { apiCall, kubectlLogin as loginTo, type Tokens, tokenRequest } from '../fixtures/kubectl-login.ts'

let environment: BrokerEnvironment

const refresh = (tokens: Tokens) =>
  tokenRequest(environment, { grant_type: 'refresh_token', refresh_token: tokens.refresh_token ?? 'none was issued' })
const kubectlLogin = (browser: Browser, login: string, asksForConsent = true): Promise<Tokens> =>
  loginTo(environment, browser, login, asksForConsent ? 'consent' : undefined)

function cookieHeader(browser: Browser): string {
  return Object.entries(browser.cookies(environment.url))
    .map(pair => pair.join('='))
    .join('; ')
}

async function isSignedIn(cookie: string): Promise<boolean> {
  const answer = await environment.fetch(`${environment.url}/onboard`, { headers: { cookie }, redirect: 'manual' })
  return answer.status === 200
}

async function withdraw(login: string): Promise<void> {
  const id = Number(environment.subjectOf(login).split('|').at(-1))
  const body = JSON.stringify({ action: 'revoked', sender: { id, login } })
  const delivery = randomBytes(16).toString('hex')
  const headers = {
    'content-type': 'application/json',
    'x-github-event': 'github_app_authorization',
    'x-github-delivery': delivery,
    'x-github-hook-installation-target-type': 'integration',
    'x-github-hook-installation-target-id': String(environment.github.app.id),
    'x-hub-signature-256': `sha256=${createHmac('sha256', environment.github.app.webhookSecret).update(body).digest('hex')}`,
  }
  expect((await environment.fetch(`${environment.url}/webhooks/github`, { method: 'POST', body, headers })).status).toBe(202)
  await waitUntil('the delivery was handled', async () => {
    const received = await environment.store.audit.list({ action: 'webhook.received', limit: 20 })
    return received.some(({ object }) => object === `Webhook/${delivery}`)
  })
}

beforeAll(async () => {
  environment = await startBrokerEnvironment({ platformAdmins: ['olivia'] })
  await bringOrganization(environment)
  await waitUntil('the Installation', () =>
    environment.kube.get(installation, { namespace: environment.organization.login, name: 'github' }),
  )
})
afterAll(() => environment?.stop())

describe('a person who withdrew the App on GitHub', () => {
  test('is signed out, and a stolen refresh token stays dead when the person signs in again', async () => {
    const before = await environment.signIn('dave')
    const cookie = cookieHeader(before.browser)
    const stolen = await kubectlLogin(before.browser, 'dave')
    await withdraw('dave')
    expect(await isSignedIn(cookie)).toBe(false)
    expect((await refresh(stolen)).error).toBe('invalid_grant')
    const again = await environment.signIn('dave')
    expect((await kubectlLogin(again.browser, 'dave')).id_token).toBeDefined()
    expect((await refresh(stolen)).error).toBe('invalid_grant')
    expect((await endings()).at(0)).toMatchObject({ reason: 'withdrew the App on GitHub' })
  })
})

describe('signing out of the pages', () => {
  test('ends the session of the issuer too, also for a copy of its cookie', async () => {
    const { browser, page } = await environment.signIn('mia')
    await kubectlLogin(browser, 'mia')
    const id = browser.cookies(environment.url)[issuerSessionCookie] ?? ''
    expect(await environment.store.oidc.find('Session', id)).toBeDefined()
    await page.form('Sign out').submit()
    expect(await environment.store.oidc.find('Session', id)).toBeUndefined()
  })
})

const call = (tokens: Tokens, path: string, body?: object) => apiCall(environment, tokens, path, body)
const endings = () => environment.store.audit.list({ action: 'session.ended', limit: 1 })

describe('what a Halt of a person would end', () => {
  const path = (login: string) => `/api/v1/sessions/person?${new URLSearchParams({ user: environment.subjectOf(login) })}`

  test('is counted for platform admins alone, and nothing ends by that', async () => {
    const mia = await environment.signIn('mia')
    const tokens = await kubectlLogin(mia.browser, 'mia')
    const olivia = await kubectlLogin((await environment.signIn('olivia')).browser, 'olivia')
    const counted = await call(olivia, path('mia'))
    expect(counted).toMatchObject({ status: 200, body: { user: environment.subjectOf('mia'), onboardings: 0 } })
    const { webSessions, programs } = counted.body as { readonly webSessions: number; readonly programs: number }
    expect(webSessions).toBeGreaterThan(0)
    expect(programs).toBeGreaterThan(0)
    expect(await call(olivia, path('mia'))).toEqual(counted)
    expect(await isSignedIn(cookieHeader(mia.browser))).toBe(true)
    expect(await call(tokens, path('mia'))).toMatchObject({ status: 403 })
    expect(await call(olivia, '/api/v1/sessions/person?user=mia')).toMatchObject({ status: 400 })
  })
})

describe('signing out everywhere', () => {
  /** Two browsers of mia, a login of kubectl, and one of dave, who must not be affected. */
  async function signedInTwice() {
    const first = await environment.signIn('mia')
    const second = await environment.signIn('mia')
    const dave = await kubectlLogin((await environment.signIn('dave')).browser, 'dave')
    const tokens = await kubectlLogin(first.browser, 'mia')
    return { first, second, tokens, dave, cookie: cookieHeader(second.browser) }
  }

  async function expectEnded({ tokens, dave, cookie }: Awaited<ReturnType<typeof signedInTwice>>): Promise<void> {
    expect(await isSignedIn(cookie)).toBe(false)
    expect((await refresh(tokens)).error).toBe('invalid_grant')
    await kubectlLogin((await environment.signIn('mia')).browser, 'mia')
    expect((await refresh(tokens)).error).toBe('invalid_grant')
    expect((await refresh(dave)).id_token).toBeDefined()
  }

  test('by the page ends every browser and every kubectl of the person, and nobody else', async () => {
    const before = await signedInTwice()
    const page = await before.first.browser.open(`${environment.url}/logout`)
    expect((await page.form('Sign out everywhere').submit()).text).toContain('All your sign-ins have ended')
    expect((await endings()).at(0)).toMatchObject({
      actor: environment.subjectOf('mia'),
      reason: 'signed out everywhere',
      details: { person: environment.subjectOf('mia') },
    })
    await expectEnded(before)
  })

  test('by the API does the same, with a token of the person only', async () => {
    const before = await signedInTwice()
    expect(await call({ id_token: 'x'.repeat(40) }, '/api/v1/sessions/sign-out', {})).toMatchObject({ status: 401 })
    const answer = await call(before.tokens, '/api/v1/sessions/sign-out', {})
    expect(answer).toMatchObject({ status: 200, body: { user: environment.subjectOf('mia') } })
    await expectEnded(before)
  })

  test('by a form without its secret does nothing', async () => {
    const { cookie } = await signedInTwice()
    const body = new URLSearchParams({ csrf: 'guessed' })
    const answer = await environment.fetch(`${environment.url}/logout/everywhere`, { method: 'POST', headers: { cookie }, body })
    expect(answer.status).toBe(403)
    expect(await isSignedIn(cookie)).toBe(true)
  })
})

describe('a platform admin', () => {
  test('sees who is signed in and ends all sign-ins of a person; nobody else may', async () => {
    const admin = await kubectlLogin((await environment.signIn('olivia')).browser, 'olivia')
    const victim = await environment.signIn('dave')
    const stolen = await kubectlLogin(victim.browser, 'dave')
    const user = environment.subjectOf('dave')
    for (const attempt of [
      await call(stolen, '/api/v1/sessions'),
      await call(stolen, '/api/v1/sessions/revoke', { user: environment.subjectOf('olivia') }),
    ])
      expect(attempt).toMatchObject({ status: 403 })
    const list = await call(admin, '/api/v1/sessions')
    expect(list.body['people']).toContainEqual({
      user,
      login: 'dave',
      webSessions: expect.any(Number),
      programs: expect.any(Number),
    })
    for (const wrong of ['dave', '', 'github|x|0'])
      expect(await call(admin, '/api/v1/sessions/revoke', { user: wrong })).toMatchObject({ status: 400 })
    const ended = await call(admin, '/api/v1/sessions/revoke', { user })
    expect(ended).toMatchObject({ status: 200, body: { user } })
    expect(Number(ended.body['programs'])).toBeGreaterThan(0)
    expect(await isSignedIn(cookieHeader(victim.browser))).toBe(false)
    expect(await environment.store.users.find(environment.host, 1002)).toBeUndefined()
    expect((await endings()).at(0)).toMatchObject({ actor: environment.subjectOf('olivia'), details: { person: user } })
    await kubectlLogin((await environment.signIn('dave')).browser, 'dave')
    expect((await refresh(stolen)).error).toBe('invalid_grant')
    expect(JSON.stringify((await call(admin, '/api/v1/sessions')).body)).toContain(user)
  })
})

describe('a browser that two people use', () => {
  /** Signs in at GitHub and here in a browser in which somebody else was signed in. */
  async function changePerson(browser: Browser, login: string): Promise<void> {
    await (await browser.open(`${environment.github.url}/login`)).form(`Sign in as ${login}`).submit()
    const asked = await browser.open(`${environment.url}/login`)
    const page = asked.text.includes('Authorize sekisho-dev') ? await asked.form('Authorize sekisho-dev').submit() : asked
    expect(page.text).toContain(`Signed in as <strong>${login}</strong>`)
  }

  test.each([true, false])('gives the second one a token in their own name (asks for consent: %s)', async asks => {
    const { browser } = await environment.signIn('mia')
    const first = await kubectlLogin(browser, 'mia')
    await changePerson(browser, 'dave')
    const tokens = await kubectlLogin(browser, 'dave', asks)
    expect(decodeJwt(tokens.id_token ?? '').sub).toBe(environment.subjectOf('dave'))
    // The other person's sign-in on their own computer goes on.
    expect((await refresh(first)).id_token).toBeDefined()
  })
})
