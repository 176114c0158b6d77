// Pages with much on them, in a real browser on a wide and on a narrow screen, in both colour schemes: nothing has to be scrolled
// sideways, no word or host of usual length breaks inside, and everything that is clicked is large enough
// (WCAG 2.2, 2.5.8: 24 by 24 pixels, but for links within a sentence).
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tokenLives } from '../../src/api/audit/access/token-lives.ts'
import type { GrantApproval } from '../../src/api/github/grant-approval.ts'
import type { RepositoryGrant } from '../../src/api/github/repository-grant.ts'
import { tokensPage } from '../../src/broker/pages/audit/tokens-page.ts'
import { buildPage, buildsPage } from '../../src/broker/pages/builds.ts'
import { homePage } from '../../src/broker/pages/home.ts'
import { errorPage } from '../../src/broker/pages/layout.ts'
import { previewsPage } from '../../src/broker/pages/previews.ts'
import { everything } from '../../src/broker/pages/state/choice.ts'
import { styleSheet } from '../../src/broker/pages/style.ts'
import { applicationPage } from '../../src/broker/pages/tenant/application-page.ts'
import { grantsPage } from '../../src/broker/pages/tenant/grants.ts'
import { offboardPage } from '../../src/broker/pages/tenant/offboard-page.ts'
import { rolesPage } from '../../src/broker/pages/tenant/roles-page.ts'
import { tenantPage } from '../../src/broker/pages/tenant/tenant-page.ts'
import { tenantsPage } from '../../src/broker/pages/tenant/tenants-page.ts'
import type { TenantView } from '../../src/broker/tenants/visible-tenants.ts'
import { haltObject } from '../../src/policy/testing/halt-object.ts'
import type { Html } from '../../src/web/html.ts'
import { type Chromium, openChromium } from './chromium.ts'
import { crowdedTenant } from './crowded-tenant.ts'

const { person, view, applicationView, build, list, now } = crowdedTenant()
const namespace = 'acme'
const web = 'https://github.com'
const tenant = (change: Partial<TenantView> = {}): Html =>
  tenantPage({ person, view: { ...view, ...change }, issuer: 'https://here.example', web, now, choice: everything })
const teams = [
  { id: 3001, slug: 'developers-of-the-shop', name: 'Developers of the shop' },
  { id: 3002, slug: 'operations', name: 'Operations' },
]
const many = (name: string) => ({ items: Array.from({ length: 40 }, (_, index) => `${name}-${index}`), more: true })
const ending = {
  applications: many('application'),
  volumes: { items: many('data').items.map(name => ({ application: 'application', name, size: '10Gi' })), more: false },
  grants: many('read-the-shop'),
  tokens: { count: 7, more: true },
}
const details = {
  ...{ token: 't1', grantUid: 'u1', person: person.subject, login: person.login, expiresAt: now.toISOString() },
  repositories: ['shop', 'warehouse-of-the-shop', 'documents', 'more'].map((name, id) => ({ id, fullName: `acme/${name}` })),
  subject: { kind: 'ServiceAccount', name: 'runner-of-tests' },
}
const tokenEntries = ['token.minted', 'token.delivered'].map((action, index) => ({
  ...{ action, sequence: 4711 + index, at: now.toISOString(), actor: 'system:serviceaccount:acme:runner-of-tests' },
  ...{ namespace, object: 'RepositoryGrant/acme/read-the-shop', outcome: 'allowed', details },
}))
const liveTokens = Array.from({ length: 12 }, () => tokenLives(tokenEntries)).flat()

const waitingGrants = Array.from(
  { length: 12 },
  (_, index): RepositoryGrant =>
    ({
      metadata: {
        name: `${'read-the-documents-'.repeat([0, 1, 5][index % 3] ?? 0)}${index}`,
        namespace,
        uid: `0a5e1f7c-3b1d-4c62-9f0e-${index}`,
      },
      spec: {
        repositories: ['acme/shop'],
        permissions: { contents: 'read', pull_requests: 'write', deployments: 'write' },
        subjects: [{ kind: 'ServiceAccount', name: 'runner-of-tests'.repeat(5) }],
        delivery: 'GitProxy',
        reason: 'x'.repeat(500),
        requestedBy: index === 0 ? person.subject : 'github|github.com|1002',
      },
      status: {
        decision: 'Waiting',
        rule: `ClusterGrantPolicy/${'p'.repeat(120)}/two-look-at-it`,
        approvals: { required: 5, given: 2 },
        requestedRepositories: details.repositories.map(({ id, fullName }) => ({ id, name: fullName })),
      },
    }) as unknown as RepositoryGrant,
)
const answers = Array.from(
  { length: 25 },
  () =>
    ({
      spec: { answer: 'Approve', reason: 'y'.repeat(500), requestedBy: 'github|github.com|1003' },
    }) as unknown as GrantApproval,
)
const grantsView = {
  waiting: { items: waitingGrants.map(grant => ({ grant, answers })), more: true },
  mayAnswer: true,
  logins: new Map([['github|github.com|1003', 'mia-of-the-operations']]),
}

const pages: Readonly<Record<string, Html>> = {
  '/': homePage({
    ...{ person, held: [{ tenant: view.tenant, role: 'admin' }], issuer: 'https://here.example' },
    ...{ platformAdmin: true, auditor: true },
  }),
  '/tenants': tenantsPage({ person, listed: Array.from({ length: 60 }, () => ({ tenant: view.tenant })), choice: everything }),
  '/tenants/acme': tenant(),
  '/waiting-grants': tenant({ waitingGrants: { items: waitingGrants, more: true } }),
  '/tenants/acme/grants': grantsPage({ person, namespace, view: grantsView }),
  '/tenants/acme/applications/app': applicationPage({ person, namespace, view: applicationView }),
  '/tenants/acme/builds': buildsPage({ person, namespace, list, now }),
  '/tenants/acme/builds/build': buildPage({ person, build, log: 'l'.repeat(400), isWhole: true, now }),
  '/tenants/acme/previews': previewsPage({ person, namespace, pipelines: view.pipelines?.items ?? [], web }),
  '/tenants/acme/roles': rolesPage({ person, view: { tenant: view.tenant, owner: 'yes', lock: undefined, teams } }),
  '/tenants/acme/offboard': offboardPage({ person, tenant: view.tenant, ending, lock: undefined }),
  '/tokens': tokensPage({
    ...{ person, now, maxRows: 10, asked: { namespace, repository: 'acme/shop' }, problem: 'the log knows no person garry' },
    found: { live: liveTokens, mintedSince: now.toISOString() },
  }),
  '/halted': tenant({ halt: haltObject({ type: 'Tenant', tenant: { name: 'acme' } }) }),
  '/nothing': errorPage('there is no such tenant', 'request', 404),
}

let server: Server
let folder: string
let browser: Chromium
let origin: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sekisho-pages-'))
  server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://here')
    const isStyle = pathname === '/style.css'
    response.setHeader('content-type', isStyle ? 'text/css' : 'text/html; charset=utf-8')
    response.end(isStyle ? styleSheet : (pages[pathname]?.toString() ?? ''))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  browser = await openChromium(folder, 'reader', { scripts: true })
})
afterAll(async () => {
  await browser?.close()
  server?.close()
  await rm(folder, { recursive: true, force: true })
})

/** In the page: words and hosts of usual length that stand in several lines. */
const broken = `[...document.querySelectorAll('.word')]
  .filter(one => one.offsetParent !== null)
  .map(one => {
    const range = document.createRange()
    range.selectNodeContents(one.lastChild)
    return { text: one.textContent, lines: new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size }
  })
  .filter(({ lines }) => lines > 1)
  .map(({ text }) => text)`
/** In the page: what is clicked, outside of a sentence, and is too small. */
const small = `[...document.querySelectorAll('a, button, summary, select, input:not([type=hidden])')]
  .filter(one => one.offsetParent !== null && !one.matches('.skip') && (one.closest('p:not(.fine), li') === null || one.matches('.button')))
  .map(one => ({ text: one.outerHTML.slice(0, 120), size: one.getBoundingClientRect() }))
  .filter(({ size }) => size.height < 24 || size.width < 24)
  .map(({ text, size }) => size.width + ' x ' + size.height + ': ' + text)`

const screens = [
  [1280, 'light'],
  [1280, 'dark'],
  [390, 'light'],
  [390, 'dark'],
] as const

describe.each(screens)('%i pixels wide, %s', (width, colorScheme) => {
  test.each(Object.keys(pages))('%s', async path => {
    const { page } = browser
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width, height: 800 })
    await page.goto(`${origin}${path}`)
    await browser.picture(`${width}-${colorScheme}${path.replaceAll('/', '-')}`)
    expect(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')).toBeLessThanOrEqual(0)
    expect(await page.evaluate(broken)).toEqual([])
    expect(await page.evaluate(small)).toEqual([])
    expect(await page.getByRole('contentinfo').count()).toBe(1)
  })
})

test('whoever uses a keyboard gets past the head of the page with the first link', async () => {
  const { page } = browser
  await page.goto(`${origin}/tenants/acme`)
  await page.keyboard.press('Tab')
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content')
  await page.keyboard.press('Enter')
  expect(await page.evaluate('document.activeElement.id')).toBe('main')
})

test('of thirty-four applications the first twenty are shown, with what failed on top', async () => {
  const { page } = browser
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.goto(`${origin}/tenants/acme`)
  const rows = page.getByRole('region', { name: 'Applications' }).getByRole('rowheader')
  expect(await rows.count()).toBe(20)
  expect(await rows.first().textContent()).toBe('application-34')
  expect(await page.getByText('1 to 20 of 34').count()).toBe(1)
  expect(await page.getByText('1 to 10 of 34').count()).toBe(1)
})
