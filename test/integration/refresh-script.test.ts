// The script of the pages in a real browser, under the content security policy of the broker: what it exchanges, what it leaves
// alone, when it asks and when it stops. The browser's clock is moved, so nothing waits for it.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { page as documentOf } from '../../src/broker/pages/layout.ts'
import { refreshScript } from '../../src/broker/pages/refresh-script.ts'
import { sendPage } from '../../src/broker/routes/pages.ts'
import { silentLog } from '../../src/lib/testing/silent-log.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { html } from '../../src/web/html.ts'
import { createWebServer, listen, type WebServer } from '../../src/web/server.ts'
import { type Chromium, openChromium } from '../browser/chromium.ts'

const longer = 'a line of the log\n'
let server: WebServer
let folder: string
let browser: Chromium
let page: Page
let url: string
/** What the server shows. */
let shown: { lines: number; live: boolean; unread?: boolean; answer: 'page' | 'failure' | 'sign-in' }
/** Status codes of the answers since the page was opened. */
let answers: number[]

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sekisho-refresh-'))
  server = await createWebServer({
    log: silentLog,
    headers: () => ({ formTargets: [], strictTransport: false, ownScripts: true }),
  })
  server.get('/', async (_request, reply) => {
    answers.push(shown.answer === 'page' ? 200 : 0)
    if (shown.answer === 'sign-in') return reply.redirect('/sign-in', 303)
    if (shown.answer === 'failure') return reply.code(503).send('away')
    const link = html`<a id="link" href="/elsewhere">link of ${shown.lines}</a>`
    const body = html`<p>words to copy</p><pre class="log" id="log" data-scrolls tabindex="0">${longer.repeat(shown.lines)}</pre>
<p>${shown.unread === true ? 'It cannot be read at the moment.' : link}</p>`
    const live = shown.live ? { live: { seconds: 3, summary: `${shown.lines} lines` } } : {}
    return sendPage(reply, documentOf({ title: `${shown.lines} lines`, body, ...live }))
  })
  const files: readonly (readonly [string, string, string])[] = [
    ['/style.css', 'text/css', 'pre.log { height: 200px; overflow: auto }'],
    ['/icon.svg', 'image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg"/>'],
    [refreshScript.path, 'text/javascript', refreshScript.content],
    ['/sign-in', 'text/html', '<link rel="icon" href="/icon.svg"><h1>Sign in</h1>'],
  ]
  for (const [path, type, content] of files) server.get(path, async (_request, reply) => reply.type(type).send(content))
  url = `http://127.0.0.1:${await listen(server, { host: '127.0.0.1', port: 0 })}/`
  browser = await openChromium(folder, 'reader')
  page = browser.page
  await page.clock.install()
})
afterAll(async () => {
  await browser?.close()
  await server?.close()
  await rm(folder, { recursive: true, force: true })
})
beforeEach(async () => {
  answers = []
  shown = { lines: 100, live: true, answer: 'page' }
  await page.goto(url)
  await page.evaluate('window.sameDocument = true')
})

/** The time of the next question, or several, passes. */
const pass = (seconds: number) => page.clock.runFor(seconds * 1000)
const titleIs = (title: string) =>
  waitUntil(`the title ${title}`, async seen => seen(await page.title()) === `${title} · Sekisho`)
const status = () => page.getByRole('status').textContent()
const isAtEnd = () => page.evaluate('log.scrollTop + log.clientHeight >= log.scrollHeight - 4')

test('what has changed is exchanged: focus stays, and the log stays at its end', async () => {
  expect(await isAtEnd()).toBe(true)
  await page.locator('#link').focus()
  shown.lines = 150
  await pass(3.5)
  await titleIs('150 lines')
  expect(await page.getByText('link of 150').count()).toBe(1)
  expect(await page.evaluate('document.activeElement.id')).toBe('link')
  expect(await isAtEnd()).toBe(true)
  expect(await status()).toBe('150 lines')
  expect(await page.evaluate('window.sameDocument')).toBe(true)
})

test('what had the focus and could not be read for a while has it again, unless it went elsewhere', async () => {
  const without = async (lines: number) => {
    shown = { ...shown, lines, unread: true }
    await pass(3.5)
    await titleIs(`${lines} lines`)
    expect(await page.evaluate('document.activeElement === document.body')).toBe(true)
  }
  const again = async (lines: number) => {
    shown = { ...shown, lines, unread: false }
    await pass(3.5)
    await titleIs(`${lines} lines`)
    return page.evaluate('document.activeElement.id')
  }
  await page.locator('#link').focus()
  await without(110)
  await without(120)
  expect(await again(130)).toBe('link')
  await without(140)
  await page.locator('#log').focus()
  expect(await again(150)).toBe('log')
})

test('a page that has not changed is not sent again, and nothing of it is touched', async () => {
  // An answer that is shown: the page has its tag then.
  shown.lines = 120
  await pass(3.5)
  await titleIs('120 lines')
  await page.evaluate("document.querySelector('main p').mark = 1")
  const [answer] = await Promise.all([page.waitForResponse(url), pass(3.5)])
  expect(answer.status()).toBe(304)
  shown.lines = 150
  await pass(3.5)
  await titleIs('150 lines')
  expect(await page.evaluate("[window.sameDocument, document.querySelector('main p').mark]")).toEqual([true, 1])
})

test('who scrolled up in the log stays there', async () => {
  await page.evaluate('log.scrollTop = 50')
  shown.lines = 150
  await pass(3.5)
  await titleIs('150 lines')
  expect(await page.evaluate('log.scrollTop')).toBe(50)
})

test('a selection is left alone until it ends', async () => {
  await page.evaluate("getSelection().selectAllChildren(document.querySelector('main p'))")
  shown.lines = 150
  await pass(3.5)
  await waitUntil('the second answer', seen => seen(answers.length) === 2)
  expect(await page.evaluate('String(getSelection())')).toBe('words to copy')
  expect(await page.title()).toContain('100 lines')
  await page.evaluate('getSelection().removeAllRanges()')
  await pass(3.5)
  await titleIs('150 lines')
})

test('after “Pause updates” nothing is asked, after “Resume updates” at once', async () => {
  await page.getByRole('button', { name: 'Pause updates' }).click()
  await pass(600)
  expect(answers).toHaveLength(1)
  shown.lines = 150
  await page.getByRole('button', { name: 'Resume updates' }).click()
  await titleIs('150 lines')
})

test('a failure is said, the waits grow, and it goes on afterwards', async () => {
  shown.answer = 'failure'
  await pass(3.5)
  await waitUntil(
    'the page to say that it could not be updated',
    async seen => seen(await status()) === 'This page could not be updated. It will be tried again.',
  )
  await pass(5)
  expect(answers).toHaveLength(2)
  shown = { lines: 150, live: true, answer: 'page' }
  await pass(2)
  await titleIs('150 lines')
  // The browser reports the answer 503, and nothing else.
  expect(browser.errors.filter(text => !text.includes('503'))).toEqual([])
})

test('when nothing is expected to change any more, it stops', async () => {
  shown = { lines: 150, live: false, answer: 'page' }
  await pass(3.5)
  await titleIs('150 lines')
  await pass(600)
  expect(answers).toHaveLength(2)
  expect(await page.getByRole('button', { name: 'Pause updates' }).isVisible()).toBe(false)
})

test('when the session has ended, the browser goes where the server leads it', async () => {
  shown.answer = 'sign-in'
  await pass(3.5)
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  expect(page.url()).toBe(`${url}sign-in`)
})
