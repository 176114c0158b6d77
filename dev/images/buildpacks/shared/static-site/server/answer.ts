// What a request of a static site gets. Pure: a function of the request and the list of files, so that no path can lead out of
// the list. Order as at https://github.com/heroku/heroku-buildpack-static: HTTPS, files, clean URLs, redirects, routes, 404.

import { isNamedByContent } from './content-name.ts'
import { contentType, isPagePath } from './content-type.ts'
import { matchesPattern } from './path-pattern.ts'
import type { SiteRules } from './site.ts'

export type Site = SiteRules & {
  /** Entity tag by path. */
  readonly files: ReadonlyMap<string, string>
}

export type SiteRequest = {
  readonly method: string
  readonly url: string
  readonly host: string | undefined
  /** X-Forwarded-Proto. */
  readonly protocol: string | undefined
  readonly acceptEncoding: string | undefined
}

type Headers = Readonly<Record<string, string>>

export type Answer =
  | { readonly kind: 'file'; readonly status: 200 | 404; readonly path: string; readonly headers: Headers }
  | { readonly kind: 'text'; readonly status: number; readonly text: string; readonly headers: Headers }

const year = 31_536_000
/** Precompressed files beside the original, best first. */
const encodings = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const

export function answerTo(site: Site, request: SiteRequest): Answer {
  if (request.method !== 'GET' && request.method !== 'HEAD') return text(405, 'method not allowed', { allow: 'GET, HEAD' })
  const target = parseTarget(request.url)
  if (target === undefined) return text(400, 'bad request')
  return withOwnHeaders(site, target.path, answerPath(site, request, target))
}

type Target = { readonly path: string; readonly query: string }

/** `path` is decoded and begins with one slash; `query` begins with its question mark. */
function parseTarget(url: string): Target | undefined {
  const mark = url.search(/[?#]/)
  const raw = mark === -1 ? url : url.slice(0, mark)
  const query = mark === -1 || url[mark] === '#' ? '' : (url.slice(mark).split('#', 1)[0] ?? '')
  if (!raw.startsWith('/')) return undefined
  try {
    const path = decodeURIComponent(raw).replace(/^\/+/, '/')
    return path.includes('\0') ? undefined : { path, query }
  } catch {
    return undefined
  }
}

function answerPath(site: Site, request: SiteRequest, { path, query }: Target): Answer {
  if (site.httpsOnly && request.protocol === 'http') {
    const host = /^([\w.-]+)(?::\d+)?$/.exec(request.host ?? '')?.[1]
    return host === undefined ? text(400, 'bad request') : redirect(301, `https://${host}${encodePath(path)}${query}`)
  }
  const found = findFile(site, path)
  if (found?.kind === 'file') return file(site, request, found.path, 200)
  if (found !== undefined) return redirect(308, `${encodePath(found.path)}${query}`)
  const moved = site.redirects.find(({ pattern }) => matchesPattern(pattern, path))
  if (moved !== undefined) return redirect(moved.status, withQuery(moved.url, query))
  const route = site.routes.find(rule => matchesPattern(rule.pattern, path) && fits(rule.pattern, path))
  if (route?.target !== undefined) return file(site, request, route.target, 200)
  return site.notFound === undefined ? text(404, 'not found') : file(site, request, site.notFound, 404)
}

/** A route of pages never answers for a missing script or picture, unless its pattern names that type of file. */
function fits(pattern: string, path: string): boolean {
  return isPagePath(path) || /\.[^/*]+$/.test(pattern)
}

type Found = { readonly kind: 'file'; readonly path: string } | { readonly kind: 'elsewhere'; readonly path: string }

function findFile({ files, cleanUrls }: Site, path: string): Found | undefined {
  const name = path.slice(1)
  const existing = (candidate: string): Found | undefined =>
    files.has(candidate) ? { kind: 'file', path: candidate } : undefined
  if (path.endsWith('/')) {
    const page = path.length > 1 && cleanUrls && files.has(`${name.slice(0, -1)}.html`)
    return existing(`${name}index.html`) ?? (page ? { kind: 'elsewhere', path: path.slice(0, -1) } : undefined)
  }
  const clean = cleanUrls ? existing(`${name}.html`) : undefined
  const folder = files.has(`${name}/index.html`)
  return existing(name) ?? clean ?? (folder ? { kind: 'elsewhere', path: `${path}/` } : undefined)
}

function file(site: Site, { acceptEncoding }: SiteRequest, path: string, status: 200 | 404): Answer {
  const variants = encodings.filter(([, suffix]) => site.files.has(`${path}${suffix}`))
  const chosen = variants.find(([encoding]) => accepts(acceptEncoding, encoding))
  const sent = `${path}${chosen?.[1] ?? ''}`
  const type = contentType(path)
  return {
    kind: 'file',
    status,
    path: sent,
    headers: {
      etag: site.files.get(sent) ?? '',
      'cache-control': status === 404 ? 'no-cache' : cacheControl(path),
      ...(type === undefined ? {} : { 'content-type': type }),
      ...(chosen === undefined ? {} : { 'content-encoding': chosen[0] }),
      ...(variants.length === 0 ? {} : { vary: 'accept-encoding' }),
    },
  }
}

function cacheControl(path: string): string {
  if (/\.html?$/i.test(path)) return 'no-cache'
  return isNamedByContent(path) ? `public, max-age=${year}, immutable` : 'public, max-age=300'
}

/** RFC 9110, section 12.5.3: a weight of 0 refuses. */
function accepts(header: string | undefined, encoding: string): boolean {
  const weights = (header ?? '')
    .toLowerCase()
    .split(',')
    .map(part => part.split(';').map(word => word.trim()))
  const entry = weights.find(([name]) => name === encoding)
  return entry !== undefined && !entry.some(word => /^q=0(?:\.0*)?$/.test(word))
}

/** Kept for no longer than the page that it stands for: the next version of the site may have another answer. */
function redirect(status: number, location: string): Answer {
  return text(status, 'moved', { location, 'cache-control': 'no-cache' })
}

/** Of each part, so that a redirect of a folder leads to no other host. */
function encodePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/')
}

function withQuery(url: string, query: string): string {
  return url.includes('?') && query !== '' ? `${url}&${query.slice(1)}` : `${url}${query}`
}

function text(status: number, line: string, headers: Headers = {}): Answer {
  return { kind: 'text', status, text: `${line}\n`, headers: { 'content-type': 'text/plain; charset=utf-8', ...headers } }
}

/** The last pattern of static.json that matches. How long an error or a redirect is kept is not the site's choice. */
function withOwnHeaders(site: Site, path: string, answer: Answer): Answer {
  const own = site.headers.findLast(({ pattern }) => matchesPattern(pattern, path))?.headers ?? {}
  const given = Object.entries(own).filter(([name]) => answer.status === 200 || name !== 'cache-control')
  return { ...answer, headers: { 'x-content-type-options': 'nosniff', ...answer.headers, ...Object.fromEntries(given) } }
}
