// People in a real browser who only click: gary onboards globex and the page shows the tenant as ready; noah, who has no
// tenant, learns what to do. Screenshots of every page are written to the state folder.
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { Browser, offers } from '../../dev/demo/browser.ts'
import { passSignIn } from '../../dev/demo/scenario/sign-in.ts'
import { platformAdmin as admin } from '../../dev/up/settings-map.ts'
import { limits } from '../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { type Chromium, openChromium } from '../browser/chromium.ts'
import { list } from './objects.ts'
import { openPlatform, type Platform } from './platform.ts'

let platform: Platform
let browser: Chromium
let fixture = ''

beforeAll(async () => {
  platform = await openPlatform([])
  fixture = platform.world.tools.issuer
  await forgetGlobex()
})

afterAll(async () => {
  await forgetGlobex()
  await platform.admin.close()
})

beforeEach(async context => {
  browser = await openChromium(join(platform.stateFolder, 'e2e/browser'), context.task.name.split(' ')[0] ?? 'person')
})

afterEach(() => browser.close())

/**
 * Deletes the Tenant as a platform admin and uninstalls the App from globex on GitHub's page as gary, so that he can onboard it
 * again.
 */
async function forgetGlobex(): Promise<void> {
  const platformAdmin = [`--as=${admin.subject}`, '--as-group=system:authenticated']
  const ended = await platform.asAdministrator([
    'delete',
    'tenant',
    'globex',
    '--ignore-not-found',
    '--timeout=60s',
    ...platformAdmin,
  ])
  expect(ended).toMatchObject({ code: 0 })
  const { githubWeb } = platform.world
  const person = new Browser()
  await passSignIn(person, await person.open(`${githubWeb}/login`), 'gary')
  const accounts = await person.open(`${githubWeb}/github-apps/sekisho-dev/installations/new`)
  if (offers(accounts, 'Configure globex')) await person.press(await person.follow(accounts, 'Configure globex'), 'Uninstall')
  await person.close()
}

/** From our first page through GitHub's sign-in and, on the first sign-in, its consent page. */
async function signIn(login: string): Promise<void> {
  const { page } = browser
  await page.goto(fixture)
  await browser.picture(`${login}-1-welcome`)
  await page.getByRole('main').getByRole('link', { name: 'Sign in with GitHub' }).click()
  await page.getByRole('button', { name: `Sign in as ${login}` }).click()
  const consent = page.getByRole('button', { name: 'Authorize sekisho-dev' })
  const home = page.getByRole('heading', { name: 'Your tenants' })
  await consent.or(home).waitFor()
  if (await consent.isVisible()) {
    await browser.picture(`${login}-2-consent`)
    await consent.click()
  }
  await home.waitFor()
}

async function signOut(): Promise<void> {
  const { page } = browser
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Welcome' }).waitFor()
  // GitHub still has a session and would sign the person in again at once; the test checks that we redirect to it.
  const answer = await page.request.get(`${fixture}/onboard`, { maxRedirects: 0, headers: { accept: 'text/html' } })
  expect(answer.status()).toBe(303)
  expect(answer.headers()['location']).toMatch(/^\/login/)
}

test('gary onboards globex with one repository, sees the tenant become ready and signs out', async () => {
  const { page } = browser
  await signIn('gary')
  await browser.picture('gary-3-home')
  await page.getByRole('navigation').getByRole('link', { name: 'Onboard an account' }).click()
  await browser.picture('gary-4-onboard')
  await page.getByRole('button', { name: 'Install the App on GitHub' }).click()
  await page.getByRole('link', { name: 'Install on globex' }).click()
  await browser.picture('gary-5-install')
  await page.getByLabel('Only select repositories').check()
  await page.getByLabel('site (private)').check()
  await page.getByRole('button', { name: 'Install', exact: true }).click()
  await page.getByRole('heading', { name: 'Onboard globex' }).waitFor()
  expect(await page.getByRole('main').textContent()).toMatch(/can never exceed 1 selected repository with these permissions/)
  await browser.picture('gary-6-confirm')
  await page.getByRole('button', { name: 'Create the tenant' }).click()
  // The page reloads itself until everything is ready.
  await page.getByRole('heading', { name: 'globex', exact: true }).waitFor()
  await waitUntil(
    'both rows to be Ready',
    async seen => seen(await page.getByRole('cell', { name: 'Ready', exact: true }).count()) === 2,
    { timeoutMilliseconds: limits.rollout },
  )
  await browser.picture('gary-7-tenant')
  const main = await page.getByRole('main').textContent()
  expect(main).toMatch(/You are its admin/)
  expect(main).toContain(`sekisho login --issuer ${fixture}`)
  const [installation] = await list(platform.admin, 'installation', '', 'globex')
  expect(installation?.spec).toMatchObject({
    boundBy: { id: 1004 },
    ceiling: { repositories: 'Selected', repositoryIds: [4003] },
  })
  await page.getByRole('link', { name: 'Tenants' }).click()
  await page.getByRole('link', { name: 'globex', exact: true }).waitFor()
  await browser.picture('gary-8-tenants')
  await signOut()
  expect(browser.errors).toEqual([])
})

test('noah, who has no tenant, learns what to do and nothing about acme', async () => {
  const { page } = browser
  await signIn('noah')
  const main = await page.getByRole('main').textContent()
  expect(main).toMatch(/no role in any tenant yet/)
  expect(main).toMatch(/ask an owner/)
  expect(await page.getByRole('main').getByRole('link', { name: 'onboard it here' }).getAttribute('href')).toBe('/onboard')
  await browser.picture('noah-3-no-tenant')
  const answers = await Promise.all(['acme', 'nothing-there'].map(name => page.request.get(`${fixture}/tenants/${name}`)))
  expect(answers.map(answer => answer.status())).toEqual([404, 404])
  const texts = await Promise.all(answers.map(async answer => (await answer.text()).replace(/[\w-]{36}/, '')))
  expect(texts[0]).toBe(texts[1])
  expect(browser.errors).toEqual([])
  await page.goto(`${fixture}/tenants/acme`)
  await page.getByRole('alert').waitFor()
  await browser.picture('noah-4-not-found')
  await page.goto(fixture)
  await signOut()
})
