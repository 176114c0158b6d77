// The page of a tenant as different people see it: the RBAC of a real API server decides about each part. In a real browser it
// works without scripts, keeps itself up to date with them, and fits a phone.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { PullRequest } from '../../dev/github/state/repositories.ts'
import type { Browser, BrowserPage } from '../../dev/github/testing/browser.ts'
import { limits } from '../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { type Chromium, openChromium } from '../browser/chromium.ts'
import { commit, hostile, startTenantPageFixture, type TenantPageFixture } from '../fixtures/tenant-page-fixture.ts'

let fixture: TenantPageFixture
let folder: string
let pull: PullRequest
const browsers = new Map<string, Promise<Browser>>()

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sekisho-tenant-page-'))
  fixture = await startTenantPageFixture()
  pull = await fixture.openFork('first')
  // Until the caches of the broker show everything.
  await waitUntil(
    'the page is complete',
    async () => {
      const { text } = await open('dave')
      return text.includes(pull.head.sha) && text.includes('BuildFailed') && text.includes('web-1')
    },
    { everyMilliseconds: 500 },
  )
})
afterAll(async () => {
  await fixture?.stop()
  await rm(folder, { recursive: true, force: true })
})

const path = (rest = '', namespace = fixture.namespace) => `${fixture.environment.url}/tenants/${namespace}${rest}`

/** One browser for each person. */
async function open(login: string, rest = '', namespace = fixture.namespace): Promise<BrowserPage> {
  const known = browsers.get(login) ?? fixture.environment.signIn(login).then(({ browser }) => browser)
  browsers.set(login, known)
  return (await known).open(path(rest, namespace))
}

const headings = ({ text }: BrowserPage): readonly string[] =>
  [...text.matchAll(/<h2[^>]*>([^<]*)<\/h2>/g)].map(([, title]) => title ?? '')
/** Without what differs between any two answers. */
const withoutRequest = ({ text }: BrowserPage): string => text.replace(/Request [\w-]+/, '')

const ofNamespace = ['Waits for approval', 'Applications', 'Services', 'RemoteSyncs', 'Builds', 'Previews of pull requests']
const ofTenant = ['State', 'Roles']

describe('the rights of Kubernetes decide what is on the page', () => {
  test.each<[string, readonly string[], string]>([
    ['olivia', [...ofNamespace, ...ofTenant, 'kubectl'], 'You are its admin.'],
    ['dave', [...ofNamespace, ...ofTenant, 'kubectl'], 'You are its developer.'],
    ['mia', [...ofNamespace, ...ofTenant, 'kubectl'], 'You are its viewer.'],
    // The role of platform admins has no right on logs of builds.
    [
      'ada',
      [...ofNamespace.filter(title => title !== 'Builds'), ...ofTenant, 'kubectl'],
      'You see what your rights in the cluster allow.',
    ],
  ])('%s', async (login, titles, words) => {
    const page = await open(login)
    expect(page.status).toBe(200)
    expect(headings(page)).toEqual(titles)
    expect(page.text).toContain(words)
    expect(page.text).toContain(commit.slice(0, 12))
    expect(page.text).toContain('web-db')
  })

  test('commands that change something are shown to who may', async () => {
    expect((await open('dave')).text).toContain('sekisho previews pause shop')
    expect((await open('mia')).text).not.toContain('previews pause')
    expect((await open('dave', '/applications/web')).text).toContain('sekisho rollback web')
    const viewed = await open('mia', '/applications/web')
    expect(viewed.text).toContain('What the Application ran')
    expect(viewed.text).not.toContain('rollback web')
  })

  test('a tenant of which somebody sees nothing, and what is in it, is like one that does not exist', async () => {
    for (const login of ['gary', 'noah'])
      for (const rest of ['', '/applications/web', '/builds', '/previews']) {
        const page = await open(login, rest)
        expect(page.text, `${login} ${rest}`).not.toContain(commit.slice(0, 12))
        if (login === 'gary') expect(page.status, `${login} ${rest}`).toBe(404)
        expect(withoutRequest(page), `${login} ${rest}`).toBe(withoutRequest(await open(login, rest, 'nothing-here')))
      }
    for (const login of ['gary', 'noah']) expect((await open(login)).status).toBe(404)
    // Also for who may read every namespace: those of the platform are not tenants.
    expect((await open('ada', '', 'kube-system')).status).toBe(404)
  })

  test('a right that RBAC gives somebody else shows exactly what it covers, and no longer than it lasts', async () => {
    const rules = [{ apiGroups: ['apps.sekisho.dev'], resources: ['applications'], verbs: ['list'] }]
    await fixture.bind('guest', 'User', fixture.environment.subjectOf('gary'), rules)
    const page = await waitUntil(
      'gary sees something',
      async () => {
        const now = await open('gary')
        return now.status === 200 ? now : undefined
      },
      { everyMilliseconds: 1000 },
    )
    expect(headings(page)).toEqual(['Applications', 'kubectl'])
    expect(page.text).not.toContain('GitHub account')
    expect(page.text).not.toContain(pull.head.sha)
    expect((await open('gary', '/applications/web')).status).toBe(404)
    await fixture.unbind('guest')
    await waitUntil('it is over', async () => (await open('gary')).status === 404, { everyMilliseconds: 1000 })
  })

  test('without a session every page leads to the sign-in', async () => {
    for (const rest of ['', '/applications/web']) {
      const answer = await fixture.environment.fetch(path(rest), { redirect: 'manual' })
      expect([answer.status, answer.headers.get('location')]).toEqual([303, expect.stringContaining('/login?return_to=')])
    }
  })
})

test('what tenants and people on GitHub wrote is text on every page', async () => {
  await fixture.report('web', 'Crashing', hostile)
  for (const rest of ['', '/applications/web', '/builds', '/previews']) {
    const { text } = await waitUntil('the page', async () => open('dave', rest))
    expect(text, rest).not.toContain('<script>')
    expect(text, rest).not.toContain('alert(1)</script>')
  }
  expect((await open('dave')).text).toContain('branch &quot;&gt;&lt;script&gt;')
  await fixture.report('web', 'Available')
})

test('an unchanged page is not sent again, and a tag of one person’s page is none of another’s', async () => {
  const cookie = async (login: string) =>
    Object.entries((await browsers.get(login))?.cookies(fixture.environment.url) ?? {})
      .map(([name, value]) => `${name}=${value}`)
      .join('; ')
  const get = async (login: string, tag = '"none"') =>
    fixture.environment.fetch(path(), { headers: { cookie: await cookie(login), 'if-none-match': tag } })
  const first = await get('dave')
  const tag = first.headers.get('etag') ?? ''
  expect([first.status, first.headers.get('cache-control')]).toEqual([200, 'no-store'])
  expect((await get('dave', tag)).status).toBe(304)
  expect((await get('mia', tag)).status).toBe(200)
})

test('the script is served for ever, as what its integrity says', async () => {
  const { text } = await open('dave')
  const [, source = '', integrity = ''] = /<script src="([^"]+)" integrity="([^"]+)" defer>/.exec(text) ?? []
  const answer = await fixture.environment.fetch(`${fixture.environment.url}${source}`)
  const bytes = Buffer.from(await answer.arrayBuffer())
  const digest = Buffer.from(await crypto.subtle.digest('SHA-256', bytes)).toString('base64')
  expect(integrity).toBe(`sha256-${digest}`)
  expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  expect(answer.headers.get('content-type')).toContain('text/javascript')
})

test('while GitHub does not say who is a member, nothing of the namespace is shown, and members learn why', async () => {
  const { faults } = fixture.environment.github.context
  const fault = faults.arm({ kind: 'rest-status', path: '/user/teams', status: 500 }, null)
  // The groups that the broker remembers are forgotten.
  fixture.environment.advance(61)
  try {
    const page = await open('dave')
    expect([page.status, headings(page)]).toEqual([200, ['State']])
    expect(page.text).toContain('GitHub does not say in which teams you are')
    expect(page.text).not.toContain(commit.slice(0, 12))
    expect((await open('gary')).status).toBe(404)
    expect((await open('dave', '/applications/web')).status).toBeGreaterThanOrEqual(500)
  } finally {
    faults.disarm(fault)
  }
  const back = async () => headings(await open('dave')).includes('Applications') || undefined
  await waitUntil('GitHub is asked again', back, { timeoutMilliseconds: limits.rollout, everyMilliseconds: 1000 })
})

async function signedIn(person: string, scripts: boolean): Promise<Chromium> {
  const browser = await openChromium(join(folder, 'browser'), `${person}-${scripts ? 'with' : 'without'}`, { scripts })
  const { page } = browser
  await page.goto(`${fixture.environment.github.url}/login`)
  await page.getByRole('button', { name: `Sign in as ${person}` }).click()
  await page.goto(path())
  const consent = page.getByRole('button', { name: 'Authorize sekisho-dev' })
  if (await consent.isVisible()) await consent.click()
  await page.getByRole('heading', { name: 'Applications' }).waitFor()
  return browser
}

describe('in a real browser', () => {
  test('with scripts the page keeps itself up to date, and who reads it keeps focus and place', async () => {
    const browser = await signedIn('dave', true)
    const { page, errors } = browser
    const answers: number[] = []
    let questions = 0
    page.on('request', request => {
      if (request.url() === path()) questions += 1
    })
    page.on('response', answer => {
      if (answer.url() === path()) answers.push(answer.status())
    })
    try {
      await fixture.report('web', 'RollingOut', 'New pods are starting')
      await page.clock.install()
      await page.reload()
      await page.evaluate('window.sameDocument = true')
      await page.getByRole('button', { name: `of pull request ${pull.number}` }).focus()
      await page.evaluate('window.scrollTo(0, 120)')
      const second = await fixture.openFork('second')
      await fixture.show([
        { number: pull.number, headCommit: pull.head.sha },
        { number: second.number, headCommit: second.head.sha },
      ])
      await page.getByRole('button', { name: `of pull request ${second.number}` }).waitFor()
      expect(await page.evaluate('document.activeElement.id')).toBe(`approve-shop-${pull.number}`)
      expect(await page.evaluate('window.sameDocument')).toBe(true)
      expect(await page.evaluate('window.scrollY')).toBe(120)
      await waitUntil('two commits that wait', async seen =>
        `${seen(await page.getByRole('status').textContent())}`.includes('2 commits wait for approval'),
      )
      await waitUntil('an answer without a change', () => answers.includes(304))

      await page.getByRole('button', { name: 'Pause updates' }).click()
      const asked = questions
      await fixture.report('web', 'Available')
      await page.clock.runFor(180_000)
      expect(questions).toBe(asked)
      expect(await page.getByText('New pods are starting').count()).toBe(1)
      await page.getByRole('button', { name: 'Resume updates' }).click()
      await page.getByText('New pods are starting').waitFor({ state: 'detached' })
      expect(await page.evaluate('window.sameDocument')).toBe(true)
      await browser.picture('with-scripts')
      expect(errors).toEqual([])
    } finally {
      await browser.close()
    }
  })

  test('what has changed while the page could not be updated is announced with the recovery', async () => {
    const browser = await signedIn('dave', true)
    const { page } = browser
    const status = () => page.getByRole('status').textContent()
    /** What it says a little later by the page's clock: less than its time limit of a request. */
    const later = async () => {
      await page.clock.runFor(15_000)
      return status()
    }
    try {
      await page.clock.install()
      await page.reload()
      await page.route(path(), route => route.abort())
      await waitUntil('the page to say that it could not be updated', async seen =>
        `${seen(await later())}`.includes('could not be updated'),
      )
      await fixture.show([{ number: pull.number, headCommit: pull.head.sha }])
      await waitUntil('the broker knows it', async () => (await open('dave')).text.includes('1 commit waits for approval'), {
        everyMilliseconds: 500,
      })
      await page.unroute(path())
      await waitUntil('the page to be up to date again', async seen => `${seen(await later())}`.includes('Up to date again.'))
      expect(await status()).toContain('1 commit waits for approval')
    } finally {
      await browser.close()
    }
  })

  test('a page that somebody may not see any more is gone from the screen', async () => {
    const rules = [{ apiGroups: ['apps.sekisho.dev'], resources: ['applications'], verbs: ['list'] }]
    await fixture.bind('guest', 'User', fixture.environment.subjectOf('gary'), rules)
    await fixture.report('web', 'RollingOut')
    await waitUntil('gary sees it', async () => (await open('gary')).status === 200, { everyMilliseconds: 1000 })
    const browser = await signedIn('gary', true)
    try {
      await fixture.unbind('guest')
      await browser.page.getByRole('heading', { name: 'Nothing here' }).waitFor({ timeout: 30_000 })
      expect(await browser.page.content()).not.toContain(commit.slice(0, 12))
    } finally {
      await browser.close()
      await fixture.report('web', 'Available')
    }
  })

  test('on a phone nothing has to be scrolled sideways, and assistive technology finds tables and names', async () => {
    await fixture.report('web', 'Crashing', 'w'.repeat(400))
    const browser = await signedIn('dave', true)
    const { page } = browser
    try {
      for (const scheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme: scheme })
        await page.setViewportSize({ width: 360, height: 740 })
        for (const rest of ['', '/applications/web', '/previews', '/builds', '/builds/web-1']) {
          await page.goto(path(rest))
          expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth'), rest).toBe(true)
          await browser.picture(`phone-${scheme}${rest.replaceAll('/', '-')}`)
        }
      }
      await page.goto(path())
      expect(await page.getByRole('table', { name: 'What runs. The name leads to the releases.' }).count()).toBe(1)
      expect(await page.getByRole('rowheader', { name: 'web', exact: true }).count()).toBeGreaterThan(0)
      expect(await page.getByRole('region', { name: 'Applications' }).count()).toBe(1)
      expect(browser.errors).toEqual([])
    } finally {
      await browser.close()
      await fixture.report('web', 'Available')
    }
  })

  test('without scripts everything is there, reloads while something changes, and a fork can be approved', async () => {
    await fixture.report('web', 'RollingOut', 'New pods are starting')
    const browser = await signedIn('dave', false)
    const { page } = browser
    try {
      await page.getByText('New pods are starting').waitFor()
      await fixture.report('web', 'Available')
      await page.getByText('New pods are starting').waitFor({ state: 'detached', timeout: 30_000 })
      expect(await page.getByRole('button', { name: 'Pause updates' }).count()).toBe(0)
      await page.getByRole('link', { name: 'Load this page again' }).click()
      await page.getByRole('link', { name: 'web', exact: true }).click()
      await page.getByRole('heading', { name: 'Releases' }).waitFor()
      await page.getByRole('link', { name: 'Everything of this tenant' }).click()
      await page.getByRole('link', { name: 'web-1' }).click()
      await page.getByText('what the build printed').waitFor()
      await page.goto(path())
      await browser.picture('without-scripts')
      await page.getByRole('button', { name: `of pull request ${pull.number}` }).click()
      expect(await fixture.approvalOf(pull.head.sha)).toMatchObject({ spec: { via: 'Page', by: { login: 'dave' } } })
      expect(browser.errors).toEqual([])
    } finally {
      await browser.close()
    }
  })
})
