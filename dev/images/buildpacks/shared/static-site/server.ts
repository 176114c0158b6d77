// The server of a static site, alone in its layer: it imports nothing but Node.js. It reads only below its root, answers GET
// and HEAD, and listens on PORT without any privilege. What it serves never changes while it runs: another version of the site
// is another image.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readFile, realpath, stat } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { extname, join, sep } from 'node:path'
import { pipeline } from 'node:stream/promises'

export type ServedSite = {
  /** The folder with the files. */
  readonly root: string
  /** Answers with status 200 for paths without a file, as applications with a router of their own need it. */
  readonly fallback: string | undefined
  /** The page of status 404. */
  readonly notFound: string | undefined
  /** `/about` is also `about.html`. */
  readonly cleanUrls: boolean
}

type Content = { readonly file: string; readonly size: number; readonly tag: string }

const types: Readonly<Record<string, string>> = {
  '.avif': 'image/avif',
  '.css': 'text/css; charset=utf-8',
  '.gif': 'image/gif',
  '.htm': 'text/html; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.mp3': 'audio/mpeg',
  '.mp4': 'video/mp4',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.ttf': 'font/ttf',
  '.txt': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
  '.webmanifest': 'application/manifest+json',
  '.webp': 'image/webp',
  '.woff': 'font/woff',
  '.woff2': 'font/woff2',
  '.xml': 'application/xml; charset=utf-8',
}

/** A name that bundlers give to a content: `index-B2gH9x1k.js`, `main.0a1b2c3d.css`. Another content has another name. */
const contentName = /[.-](?=[\w-]*\d)[\w-]{8,}\.\w+$/
const year = 31_536_000

/** The files below the root of a site. */
type Files = {
  /** Undefined when there is no such file below the root, also when a symbolic link leads out of it. */
  readonly at: (path: string) => Promise<string | undefined>
  readonly content: (file: string) => Promise<Content>
}

function filesBelow(folder: string): Files {
  const tags = new Map<string, string>()
  return {
    async at(path) {
      const root = await realpath(folder)
      const file = await realpath(join(root, path)).catch(() => undefined)
      return file === root || file?.startsWith(root + sep) ? file : undefined
    },
    /** Read once for its entity tag: the time of a file in an image says nothing. */
    async content(file) {
      let tag = tags.get(file)
      if (tag === undefined) {
        const hash = createHash('sha256')
        await pipeline(createReadStream(file), hash)
        tag = `"${hash.digest('base64url').slice(0, 22)}"`
        tags.set(file, tag)
      }
      return { file, size: (await stat(file)).size, tag }
    },
  }
}

/** The file of a path, or where the browser must go instead. */
async function find(site: ServedSite, files: Files, path: string): Promise<string | { readonly location: string } | undefined> {
  if (path.split('/').some(part => part.startsWith('.') && part !== '.well-known')) return undefined
  const file = await files.at(path)
  if (file === undefined) return site.cleanUrls ? files.at(`${path}.html`) : undefined
  const isFolder = (await stat(file)).isDirectory()
  if (!isFolder) return path.endsWith('/') ? undefined : file
  const page = await files.at(`${path}/index.html`)
  if (page === undefined || path.endsWith('/')) return page
  return { location: `${path.replace(/^\/+/, '/')}/` }
}

/** Answers a request from the files below `site.root`. */
export function siteHandler(site: ServedSite): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const files = filesBelow(site.root)

  async function sendOther(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const wantsPage = extname(path) === '' || extname(path) === '.html'
    const fallback = wantsPage ? site.fallback : undefined
    const name = fallback ?? site.notFound
    const page = name === undefined ? undefined : await files.at(name)
    if (page === undefined) return end(response, 404, 'not found')
    return send(request, response, fallback === undefined ? 404 : 200, await files.content(page))
  }

  return async (request, response) => {
    response.setHeader('x-content-type-options', 'nosniff')
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return end(response, 405, 'method not allowed', { allow: 'GET, HEAD' })
    const path = pathOf(request.url ?? '/')
    if (path === undefined) return end(response, 400, 'bad request')
    const found = await find(site, files, path)
    if (typeof found === 'object') return end(response, 308, 'moved', { location: encodeURI(found.location) })
    if (found === undefined) return sendOther(request, response, path)
    return send(request, response, 200, await files.content(found))
  }
}

function pathOf(url: string): string | undefined {
  try {
    const path = decodeURIComponent(url.split(/[?#]/, 1)[0] ?? '/')
    return path.startsWith('/') && !path.includes('\0') ? path : undefined
  } catch {
    return undefined
  }
}

async function send(
  { method, headers }: IncomingMessage,
  response: ServerResponse,
  status: number,
  { file, size, tag }: Content,
): Promise<void> {
  const type = types[extname(file).toLowerCase()] ?? 'application/octet-stream'
  response.setHeader('etag', tag)
  response.setHeader('cache-control', cacheControl(file, type))
  if (status === 200 && headers['if-none-match']?.split(/\s*,\s*/).includes(tag)) {
    response.writeHead(304).end()
    return
  }
  response.writeHead(status, { 'content-type': type, 'content-length': size })
  if (method === 'HEAD') response.end()
  // A browser that goes away in the middle is not an error of the server.
  else await pipeline(createReadStream(file), response).catch(() => response.destroy())
}

function cacheControl(file: string, type: string): string {
  if (type.startsWith('text/html')) return 'no-cache'
  return contentName.test(file) ? `public, max-age=${year}, immutable` : 'public, max-age=300'
}

function end(response: ServerResponse, status: number, text: string, headers: Readonly<Record<string, string>> = {}): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', ...headers }).end(`${text}\n`)
}

if (import.meta.main) {
  const site: ServedSite = JSON.parse(await readFile(join(import.meta.dirname, 'site.json'), 'utf8'))
  const handle = siteHandler(site)
  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      console.error(error)
      if (response.headersSent) response.destroy()
      else end(response, 500, 'internal error')
    })
  })
  // biome-ignore lint/style/noProcessEnv: this file is alone in its layer
  const port = Number(process.env['PORT'] ?? 8080)
  server.listen(port, () => console.log(`serving ${site.root} on port ${port}`))
  for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => server.close())
}
