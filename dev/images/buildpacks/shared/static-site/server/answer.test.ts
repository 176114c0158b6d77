// What a request of a static site gets, by the list of files and the rules of static.json.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Answer, answerTo, type Site, type SiteRequest } from './answer.ts'
import { matchesPattern, patternProblem } from './path-pattern.ts'

const paths = [
  'index.html',
  'about.html',
  'blog.html',
  'blog/first.html',
  'docs/index.html',
  'app.js',
  'app.js.br',
  'app.js.gz',
  '404.html',
  '.well-known/apple-app-site-association',
  '.well-known/acme-challenge/abc',
]
const plain: Site = {
  files: new Map(paths.map(path => [path, `"${path}"`])),
  cleanUrls: false,
  httpsOnly: false,
  headers: [],
  routes: [],
  redirects: [],
  notFound: undefined,
}
const clean = { ...plain, cleanUrls: true }

function ask(site: Site, url: string, more: Partial<SiteRequest> = {}): Answer {
  return answerTo(site, { method: 'GET', url, host: 'shop.example', protocol: undefined, acceptEncoding: undefined, ...more })
}

/** Status, and the file or where it leads. */
function brief(answer: Answer): readonly [number, string | undefined] {
  return [answer.status, answer.kind === 'file' ? answer.path : answer.headers['location']]
}

test.each<[string, Site, string, readonly [number, string | undefined]]>([
  ['the page of a folder', plain, '/docs/', [200, 'docs/index.html']],
  ['a page beside a folder of the same name', clean, '/blog', [200, 'blog.html']],
  ['a page in that folder', clean, '/blog/first', [200, 'blog/first.html']],
  ['such a page with a slash', clean, '/blog/?x=1', [308, '/blog?x=1']],
  ['a page without clean URLs', plain, '/blog', [404, undefined]],
  ['a folder without its slash, with a query', plain, '/docs?utm_source=x&token=abc', [308, '/docs/?utm_source=x&token=abc']],
  ['a folder that looks like another host', plain, '//docs', [308, '/docs/']],
  ['a question mark that is part of a name', plain, '/docs%3Fx', [404, undefined]],
  ['a query without a path of its own', plain, '/?x', [200, 'index.html']],
  ['an encoded slash', plain, '/blog%2Ffirst.html', [200, 'blog/first.html']],
  ['a way out', plain, '/../etc/passwd', [404, undefined]],
  ['an encoded way out', plain, '/%2e%2e%2f%2e%2e%2fetc%2fpasswd', [404, undefined]],
  ['a way out in the other direction', plain, '/..%5c..%5cetc', [404, undefined]],
  ['a name of an object’s prototype', plain, '/__proto__', [404, undefined]],
  ['NUL', plain, '/%00', [400, undefined]],
  ['a broken encoding', plain, '/%', [400, undefined]],
  ['another form of target', plain, 'http://x/', [400, undefined]],
])('%s', (_what, site, url, expected) => {
  expect(brief(ask(site, url))).toEqual(expected)
})

test('routes, redirects and the page of 404 come after files', () => {
  const site: Site = {
    ...plain,
    notFound: '404.html',
    redirects: [
      { pattern: '/old/*', url: '/docs/', status: 301 },
      { pattern: '/index.html', url: '/never', status: 301 },
    ],
    routes: [
      { pattern: '/assets/**', target: undefined },
      { pattern: '/**', target: 'index.html' },
    ],
  }
  expect(brief(ask(site, '/old/x?a=1'))).toEqual([301, '/docs/?a=1'])
  expect(brief(ask(site, '/index.html'))).toEqual([200, 'index.html'])
  expect(brief(ask(site, '/users/7'))).toEqual([200, 'index.html'])
  expect(brief(ask(site, '/users/john.doe'))).toEqual([200, 'index.html'])
  expect(brief(ask(site, '/assets/gone'))).toEqual([404, '404.html'])
  expect(brief(ask(site, '/gone.js'))).toEqual([404, '404.html'])
})

test('the last matching headers replace ours; an error is not kept for as long as a file', () => {
  const site: Site = {
    ...plain,
    headers: [
      { pattern: '/**', headers: { 'x-frame-options': 'DENY', 'cache-control': 'public, max-age=512000' } },
      { pattern: '/app.js', headers: { 'x-own': '1' } },
    ],
  }
  expect(ask(site, '/').headers).toMatchObject({ 'x-frame-options': 'DENY', 'cache-control': 'public, max-age=512000' })
  expect(ask(site, '/app.js').headers).toMatchObject({ 'x-own': '1', 'cache-control': 'public, max-age=300' })
  expect(ask(site, '/app.js').headers).not.toHaveProperty('x-frame-options')
  const missing = ask(site, '/gone').headers
  expect(missing['x-frame-options']).toBe('DENY')
  expect(missing).not.toHaveProperty('cache-control')
})

test('https_only redirects requests that came by http, and no probe of the node', () => {
  const site = { ...plain, httpsOnly: true }
  expect(brief(ask(site, '/docs/?a=1', { protocol: 'http', host: 'shop.example:8080' }))).toEqual([
    301,
    'https://shop.example/docs/?a=1',
  ])
  expect(ask(site, '/', { protocol: 'https' }).status).toBe(200)
  expect(ask(site, '/').status).toBe(200)
  expect(ask(site, '/', { protocol: 'http', host: 'x/../evil' }).status).toBe(400)
})

test.each([
  ['br, gzip', 'app.js.br', 'br'],
  ['gzip;q=0.5', 'app.js.gz', 'gzip'],
  ['br;q=0, gzip', 'app.js.gz', 'gzip'],
  [undefined, 'app.js', undefined],
])('with Accept-Encoding %s the file is %s', (acceptEncoding, path, encoding) => {
  const answer = ask(plain, '/app.js', { acceptEncoding })
  expect(brief(answer)).toEqual([200, path])
  expect(answer.headers).toMatchObject({ vary: 'accept-encoding', 'content-type': 'text/javascript; charset=utf-8' })
  expect(answer.headers['content-encoding']).toBe(encoding)
  expect(answer.headers['etag']).toBe(`"${path}"`)
})

test('files of .well-known have the types that their specifications demand', () => {
  expect(ask(plain, '/.well-known/apple-app-site-association').headers['content-type']).toBe('application/json')
  expect(ask(plain, '/.well-known/acme-challenge/abc').headers['content-type']).toBe('text/plain; charset=utf-8')
})

test('whatever is asked, only a listed file is sent, and a redirect stays on the host', () => {
  const piece = fc.constantFrom(
    '..',
    '.',
    '%2e',
    '%2f',
    '/',
    '//',
    '\\',
    '%5c',
    'docs',
    'blog',
    'etc',
    '?',
    '#',
    '%00',
    'é',
    ' ',
    '.env',
  )
  const url = fc.array(piece, { maxLength: 12 }).map(pieces => `/${pieces.join('')}`)
  fc.assert(
    fc.property(url, fc.boolean(), (path, cleanUrls) => {
      const answer = ask({ ...plain, cleanUrls }, path)
      if (answer.kind === 'file') expect(paths).toContain(answer.path)
      else if (answer.headers['location'] !== undefined) expect(answer.headers['location']).toMatch(/^\/(?![/\\])/)
    }),
  )
})

test.each([
  ['/**', '/', true],
  ['/**', '/a/b.c', true],
  ['/*', '/a', true],
  ['/*', '/a/b', false],
  ['/a/*.html', '/a/x.html', true],
  ['/a/**/z', '/a/b/c/z', true],
  ['/a', '/a/', false],
  ['/a*b*c', '/aXbXc', true],
])('pattern %s and %s: %s', (pattern, path, expected) => {
  expect(matchesPattern(pattern, path)).toBe(expected)
})

test('patterns are bounded, and a path cannot make one slow', () => {
  expect(patternProblem('a')).toBe('must begin with a slash')
  expect(patternProblem(`/${'*a'.repeat(11)}`)).toBe('has more than 10 wildcards')
  const begin = process.threadCpuUsage()
  expect(matchesPattern(`/${'*a'.repeat(10)}b`, `/${'a'.repeat(16_000)}`)).toBe(false)
  expect(process.threadCpuUsage(begin).user).toBeLessThan(2_000_000)
})
