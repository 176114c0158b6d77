// Static sites: which folder is served, and what the server answers.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { symlinkSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { findSite } from '../shared/static-site/find-site.ts'
import { siteHandler } from '../shared/static-site/server.ts'
import { type Files, type HostWorkshop, openWorkshop } from '../testing/run-on-host.ts'

function workshopOf(files: Files): HostWorkshop {
  const workshop = openWorkshop(files)
  onTestFinished(workshop.remove)
  return workshop
}

test.each<[string, Files, object | undefined]>([
  ['the root', { 'index.html': '' }, { root: '.' }],
  ['a folder before the root', { 'index.html': '', 'dist/index.html': '' }, { root: 'dist' }],
  ['Angular', { 'dist/shop/browser/index.html': '' }, { root: 'dist/shop/browser' }],
  [
    'static.json',
    { 'static.json': '{"root":"site/","routes":{"/**":"index.html"}}', 'site/index.html': '' },
    { root: 'site', fallback: 'index.html' },
  ],
  ['200.html', { 'public/index.html': '', 'public/200.html': '' }, { root: 'public', fallback: '200.html' }],
  ['nothing', { 'readme.md': '' }, undefined],
])('the site of %s', (_what, files, expected) => {
  const found = findSite(workshopOf(files).appFolder, true)
  if (expected === undefined) expect(found).toBeUndefined()
  else expect(found).toMatchObject(expected)
})

test.each<[Files, string]>([
  [{ 'static.json': '{' }, 'static.json is not valid JSON'],
  [{ 'static.json': '{"root":"../x"}' }, 'static.json: root must be a path inside the app'],
  [{ 'static.json': '{"root":"site"}' }, 'static.json: there is no folder site'],
  [{ 'static.json': '{"routes":{"/**":"app.html"}}', 'index.html': '' }, 'names app.html, and the site has no such file'],
])('%j is refused', (files, message) => {
  expect(() => findSite(workshopOf(files).appFolder, true)).toThrow(message)
})

const page: Files = {
  'index.html': '<h1>home</h1>',
  'docs/index.html': 'docs',
  'about.html': 'about',
  'assets/index-B2gH9x1k.js': 'x',
  'assets/logo.svg': '<svg/>',
  '.env': 'SECRET=1',
}

async function served(changes: Partial<Parameters<typeof siteHandler>[0]> = {}, files: Files = page) {
  const { appFolder } = workshopOf(files)
  const handle = siteHandler({ root: appFolder, fallback: undefined, notFound: undefined, cleanUrls: false, ...changes })
  const server = createServer((request, response) => void handle(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  /** Without the normalization that a client of HTTP does. */
  const raw = async (path: string, head = `GET ${path} HTTP/1.1`): Promise<string> => {
    const socket = connect(port, '127.0.0.1')
    socket.write(`${head}\r\nhost: x\r\nconnection: close\r\n\r\n`)
    let text = ''
    for await (const chunk of socket) text += String(chunk)
    return text
  }
  const get = (path: string, init: RequestInit = {}) => fetch(`http://127.0.0.1:${port}${path}`, { redirect: 'manual', ...init })
  return { appFolder, raw, get }
}

test('files have their types, an entity tag and cache headers', async () => {
  const { get } = await served()
  const home = await get('/')
  expect([home.status, await home.text(), home.headers.get('content-type'), home.headers.get('cache-control')]).toEqual([
    200,
    '<h1>home</h1>',
    'text/html; charset=utf-8',
    'no-cache',
  ])
  const again = await get('/', { headers: { 'if-none-match': home.headers.get('etag') ?? '' } })
  expect(again.status).toBe(304)
  expect((await get('/assets/index-B2gH9x1k.js')).headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  expect((await get('/assets/logo.svg')).headers.get('cache-control')).toBe('public, max-age=300')
  const head = await get('/about.html', { method: 'HEAD' })
  expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '5', ''])
})

test('a folder without its slash is redirected, also one that looks like another host', async () => {
  const { get, raw } = await served()
  expect((await get('/docs')).headers.get('location')).toBe('/docs/')
  expect(await raw('//docs')).toMatch(/location: \/docs\/\r\n/)
})

test('nothing outside of the site is read, and no hidden file', async () => {
  const { get, raw, appFolder } = await served()
  symlinkSync('/etc/passwd', join(appFolder, 'passwd.txt'))
  expect((await get('/passwd.txt')).status).toBe(404)
  expect((await get('/.env')).status).toBe(404)
  for (const path of ['/../../etc/passwd', '/%2e%2e/%2e%2e/etc/passwd', '/assets/..%2f..%2f..%2fetc/passwd'])
    expect(await raw(path)).toMatch(/^HTTP\/1.1 404/)
  for (const path of ['/%', '/%00', 'http://x/']) expect(await raw(path)).toMatch(/^HTTP\/1.1 400/)
  expect((await get('/', { method: 'POST', body: 'x' })).status).toBe(405)
})

test('unknown paths get the fallback, or the page of 404; a missing file is never the fallback', async () => {
  const { get } = await served({ fallback: 'index.html' })
  expect([(await get('/users/7')).status, (await get('/assets/gone.js')).status]).toEqual([200, 404])
  const plain = await served({ notFound: 'about.html', cleanUrls: true })
  expect([(await plain.get('/users/7')).status, (await plain.get('/about')).status]).toEqual([404, 200])
})

test('the built process serves on PORT and ends with SIGTERM', async () => {
  const workshop = workshopOf(page)
  expect(workshop.detects('static')).toBe(true)
  const { code, launch } = workshop.build('static')
  expect(code).toBe(0)
  const command: unknown = JSON.parse(/command = (.*)/.exec(launch)?.[1] ?? '[]')
  const server = String((command as readonly string[])[1])
  const child = spawn(process.execPath, [server], { env: { PORT: '0' }, stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [line] = await once(child.stdout, 'data')
  expect(String(line)).toContain('serving ')
  child.kill('SIGTERM')
  expect(await once(child, 'exit')).toEqual([0, null])
})

test('a Procfile has nothing to start in a static site', () => {
  const { log, code } = workshopOf({ 'index.html': '', Procfile: 'web: node x.js' }).build('static')
  expect(code).toBe(1)
  expect(log).toContain('sekisho/static: error: a static site has no programs')
})
