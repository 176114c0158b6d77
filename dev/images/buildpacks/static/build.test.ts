// Static sites: which folder is served, what static.json may say, and what the server of the image answers over HTTP.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openAppFiles } from '../shared/app-files.ts'
import { findSite } from '../shared/static-site/find-site.ts'
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
    { 'static.json': '\uFEFF{"root":"site/","routes":{"/**":"index.html"}}\r\n', 'site/index.html': '' },
    { root: 'site', routes: [{ pattern: '/**', target: 'index.html' }] },
  ],
  [
    '200.html',
    { 'public/index.html': '', 'public/200.html': '' },
    { root: 'public', routes: [{ pattern: '/**', target: '200.html' }] },
  ],
  ['nothing', { 'readme.md': '' }, undefined],
])('the site of %s', (_what, files, expected) => {
  const found = findSite(openAppFiles(workshopOf(files).appFolder), true)
  if (expected === undefined) expect(found).toBeUndefined()
  else expect(found).toMatchObject(expected)
})

test.each<[object | string, string]>([
  ['{', 'static.json is not valid JSON'],
  ['[]', 'static.json must contain an object'],
  [{ root: '../x' }, 'static.json: root must be a path inside the app'],
  [{ root: 'site' }, 'static.json: there is no folder site'],
  [{ routes: { '/**': 'app.html' } }, 'names app.html, and the site has no such file'],
  [{ routes: { '**': 'index.html' } }, 'static.json: routes["**"] must begin with a slash'],
  [{ error_page: 'gone.html' }, 'error_page names gone.html, and the site has no such file'],
  [{ clean_urls: 'yes' }, 'clean_urls must be true or false'],
  [{ basic_auth: true }, 'basic_auth is not supported, and without it everybody could read the site'],
  [{ headers: { '/**': { 'X-A': 'a\nb' } } }, 'headers["/**"].X-A is not a header of HTTP'],
  [{ headers: { '/**': { 'Content-Length': '1' } } }, 'headers["/**"].Content-Length is set by the server itself'],
  [{ redirects: { '/a': { url: 'javascript:x' } } }, 'redirects["/a"].url must be a path'],
  [{ redirects: { '/a': { url: '/b', status: 200 } } }, 'redirects["/a"].status must be 301'],
])('%j is refused', (settings, message) => {
  const text = typeof settings === 'string' ? settings : JSON.stringify(settings)
  expect(() => findSite(openAppFiles(workshopOf({ 'index.html': '', 'static.json': text }).appFolder), true)).toThrow(message)
})

test('a link that leads out of the app is no site, and one inside of it is', () => {
  const { appFolder } = workshopOf({ 'static.json': '{"root": "site"}', 'made/index.html': '' })
  symlinkSync('../..', join(appFolder, 'site'))
  expect(() => findSite(openAppFiles(appFolder), true)).toThrow('static.json: there is no folder site')
  rmSync(join(appFolder, 'site'))
  symlinkSync('made', join(appFolder, 'site'))
  expect(findSite(openAppFiles(appFolder), true)).toMatchObject({ root: 'site' })
})

test('another encoding than UTF-8 is named', () => {
  const { appFolder } = workshopOf({ 'index.html': '' })
  writeFileSync(join(appFolder, 'static.json'), Buffer.from('\uFEFF{}', 'utf16le'))
  expect(() => findSite(openAppFiles(appFolder), true)).toThrow(
    'static.json is encoded in UTF-16 (little endian): save it as UTF-8',
  )
  writeFileSync(join(appFolder, 'static.json'), Buffer.from('{\n"root": "stra\u00dfe"}', 'latin1'))
  expect(() => findSite(openAppFiles(appFolder), true)).toThrow('static.json is not encoded in UTF-8 (line 2')
})

const page: Files = {
  'index.html': '<h1>home</h1>',
  'docs/index.html': 'docs',
  'about.html': 'about',
  '404.html': 'nothing here',
  'assets/index-B2gH9x1k.js': 'x',
  'assets/film.mp4': '0123456789',
  'team-portrait-2.jpg': 'j',
  '.env': 'SECRET=1',
  '.well-known/apple-app-site-association': '{}',
  '.well-known/.hidden': 'SECRET=1',
}

type Served = {
  readonly get: (path: string, headers?: Readonly<Record<string, string>>, method?: string) => Promise<Response>
  /** The answer to exactly these bytes. */
  readonly raw: (text: string) => Promise<string>
  readonly open: () => Socket
  readonly log: string
  readonly stop: () => Promise<unknown>
}

/** Builds the app and runs the process of its image. */
async function served(files: Files = page, prepare: (appFolder: string) => void = () => {}): Promise<Served> {
  const workshop = workshopOf(files)
  prepare(workshop.appFolder)
  const { code, launch, log } = workshop.build('static')
  expect(code, log).toBe(0)
  const command = JSON.parse(/command = (.*)/.exec(launch)?.[1] ?? '[]') as readonly string[]
  const child = spawn(process.execPath, [String(command[1])], { env: { PORT: '0' }, stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [line] = await once(child.stdout, 'data')
  const port = Number(/on port (\d+)/.exec(String(line))?.[1])
  const open = (): Socket => connect(port, '127.0.0.1')
  return {
    log,
    open,
    get: (path, headers = {}, method = 'GET') =>
      fetch(`http://127.0.0.1:${port}${path}`, { redirect: 'manual', headers, method }),
    raw: async text => {
      const socket = open()
      socket.write(text)
      let answer = ''
      for await (const chunk of socket) answer += String(chunk)
      return answer
    },
    stop: () => {
      child.kill('SIGTERM')
      return once(child, 'exit')
    },
  }
}

const requestOf = (path: string): string => `GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`

test('files have their types, an entity tag and cache headers; SIGTERM ends the process', async () => {
  const { get, stop } = await served()
  const home = await get('/')
  expect([home.status, await home.text(), home.headers.get('content-type'), home.headers.get('cache-control')]).toEqual([
    200,
    '<h1>home</h1>',
    'text/html; charset=utf-8',
    'no-cache',
  ])
  expect((await get('/assets/index-B2gH9x1k.js')).headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  expect((await get('/team-portrait-2.jpg')).headers.get('cache-control')).toBe('public, max-age=300')
  expect((await get('/.well-known/apple-app-site-association')).headers.get('content-type')).toBe('application/json')
  const head = await get('/about.html', {}, 'HEAD')
  expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '5', ''])
  const gone = await get('/gone')
  expect([gone.status, await gone.text(), gone.headers.get('cache-control')]).toEqual([404, 'nothing here', 'no-cache'])
  expect((await get('/', {}, 'POST')).status).toBe(405)
  expect(await stop()).toEqual([0, null])
})

test('conditional requests: also with the weak form that a proxy makes of a tag, and never by time', async () => {
  const { get, raw } = await served()
  const tag = (await get('/')).headers.get('etag') ?? ''
  // fetch() asks for a reload beside such headers.
  const status = async (headers: Readonly<Record<string, string>>): Promise<number> => {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    const answer = await raw(`GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${lines.join('')}\r\n`)
    return Number(answer.split(' ')[1])
  }
  expect(tag).toMatch(/^"[\w-]{22}"$/)
  expect(await status({ 'if-none-match': tag })).toBe(304)
  expect(await status({ 'if-none-match': `W/${tag}` })).toBe(304)
  expect(await status({ 'if-none-match': `"other", W/${tag}` })).toBe(304)
  expect(await status({ 'if-none-match': '"other"' })).toBe(200)
  expect(await status({ 'if-match': '"other"' })).toBe(412)
  // Every file of an image has the same time.
  expect(await status({ 'if-modified-since': 'Tue, 01 Jan 2030 00:00:00 GMT' })).toBe(200)
  expect((await get('/gone', { 'if-none-match': '*', range: 'bytes=0-1' })).status).toBe(404)
})

test('ranges', async () => {
  const { get } = await served()
  const part = async (range: string, more: Readonly<Record<string, string>> = {}) => {
    const { status, headers, ...rest } = await get('/assets/film.mp4', { range, ...more })
    void rest
    return [status, headers.get('content-range'), headers.get('content-length')]
  }
  expect(await part('bytes=2-4')).toEqual([206, 'bytes 2-4/10', '3'])
  expect(await part('bytes=-3')).toEqual([206, 'bytes 7-9/10', '3'])
  expect(await part('bytes=20-')).toEqual([416, 'bytes */10', null])
  expect(await part('bytes=0-1', { 'if-range': '"other"' })).toEqual([200, null, '10'])
  expect(await (await get('/assets/film.mp4', { range: 'bytes=8-' })).text()).toBe('89')
})

test('static.json is applied, and what has no effect is said', async () => {
  const settings = {
    clean_urls: true,
    https_only: true,
    headers: { '/**': { 'X-Frame-Options': 'DENY', 'Content-Security-Policy': "default-src 'self'" } },
    routes: { '/assets/*': '/assets/', '/**': 'index.html' },
    proxies: { '/api/': { origin: 'https://api.example' } },
    gzip: true,
  }
  const { get, log } = await served({
    ...page,
    'static.json': JSON.stringify(settings),
    'blog.html': 'b',
    'blog/first.html': 'f',
  })
  expect(log).toContain('sekisho/static: static.json: "proxies" has no effect here')
  expect(log).toContain('sekisho/static: static.json: "gzip" has no effect here')
  const home = await get('/users/7')
  expect([home.status, home.headers.get('x-frame-options'), home.headers.get('content-security-policy')]).toEqual([
    200,
    'DENY',
    "default-src 'self'",
  ])
  expect(await (await get('/blog')).text()).toBe('b')
  expect((await get('/assets/gone')).status).toBe(404)
  expect((await get('/docs?a=1')).headers.get('location')).toBe('/docs/?a=1')
  expect((await get('/static.json')).status).toBe(404)
  expect((await get('/docs/', { 'x-forwarded-proto': 'http' })).headers.get('location')).toBe('https://127.0.0.1/docs/')
})

test('nothing outside of the site is read, and no hidden file', async () => {
  const { get, raw } = await served(page, appFolder => {
    symlinkSync('/etc/passwd', join(appFolder, 'passwd.txt'))
    symlinkSync('/etc', join(appFolder, 'etc'))
    symlinkSync('.env', join(appFolder, 'env.txt'))
    symlinkSync('.', join(appFolder, 'self'))
    symlinkSync('about.html', join(appFolder, 'imprint.html'))
  })
  for (const path of ['/passwd.txt', '/etc/passwd', '/.env', '/env.txt', '/.well-known/.hidden'])
    expect((await get(path)).status, path).toBe(404)
  expect(await (await get('/imprint.html')).text()).toBe('about')
  for (const path of ['/../../etc/passwd', '/%2e%2e/%2e%2e/etc/passwd', '/assets/..%2f..%2f..%2fetc/passwd', '/..%5c..%5cetc'])
    expect(await raw(requestOf(path)), path).toMatch(/^HTTP\/1.1 404/)
  for (const path of ['/%', '/%00', 'http://x/']) expect(await raw(requestOf(path)), path).toMatch(/^HTTP\/1.1 400/)
})

test('headers of any size and clients that say nothing cost a connection, never the server', async () => {
  const { get, raw, open } = await served()
  const silent = open()
  onTestFinished(() => void silent.destroy())
  silent.resume().write('GET / HTTP/1.1\r\nhost: x\r\nx-slow:')
  expect(await raw(`GET / HTTP/1.1\r\nhost: x\r\nx-large: ${'x'.repeat(20_000)}\r\n\r\n`)).toMatch(/^HTTP\/1.1 431/)
  const closed = once(silent, 'close')
  expect((await get('/')).status).toBe(200)
  await closed
}, 30_000)

test('a Procfile has nothing to start in a static site', () => {
  const { log, code } = workshopOf({ 'index.html': '', Procfile: 'web: node x.js' }).build('static')
  expect(code).toBe(1)
  expect(log).toContain('sekisho/static: error: a static site has no programs')
})

test('the server of the image is one file', () => {
  const { layersFolder } = workshopOf(page).build('static')
  const text = readFileSync(join(layersFolder, 'static-server', 'server.mjs'), 'utf8')
  expect(
    [...text.matchAll(/^import .* from "(.*)";$/gm)].map(([, name]) => name).filter(name => !name?.startsWith('node:')),
  ).toEqual([])
})
