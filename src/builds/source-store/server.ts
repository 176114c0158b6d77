// The HTTP face of the source store: two paths of git's smart protocol below an unguessable address, read only.
// Everything else, and every unknown or expired address, is the same 404. Speaks plain http: it is reachable inside the cluster only.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Log } from '../../lib/log.ts'
import { parseSourcePath } from './source-address.ts'
import type { SourceStore } from './source-store.ts'
import { answerUploadPack } from './upload-pack.ts'

export type SourceServer = {
  readonly listen: (host: string, port: number) => Promise<number>
  /** Also before `listen`, and more than once. */
  readonly close: () => Promise<void>
}

export type SourceServerDeps = {
  readonly store: Pick<SourceStore, 'lookup' | 'deleteExpired'>
  readonly log: Log
  /** Requests answered at once; more are told to come back. */
  readonly concurrency?: number
  readonly sweepMilliseconds?: number
}

function plain(response: ServerResponse, status: number, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store', ...headers })
  response.end(status === 404 ? 'not found\n' : 'busy\n')
}

/** Which of the two exchanges a request is; undefined for anything else. */
function exchangeOf(request: IncomingMessage, service: string, query: URLSearchParams): 'advertise' | 'exchange' | undefined {
  if (service === 'info/refs')
    return request.method === 'GET' && query.get('service') === 'git-upload-pack' ? 'advertise' : undefined
  return request.method === 'POST' && request.headers['content-type'] === 'application/x-git-upload-pack-request'
    ? 'exchange'
    : undefined
}

export function createSourceServer(deps: SourceServerDeps): SourceServer {
  const limit = deps.concurrency ?? 32
  let active = 0

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://source.invalid')
    const path = parseSourcePath(url.pathname)
    const exchange = path && exchangeOf(request, path.service, url.searchParams)
    const folder = path && exchange ? await deps.store.lookup(path.secret) : undefined
    if (folder === undefined) return plain(response, 404)
    if (active >= limit) return plain(response, 503, { 'retry-after': '1' })
    active++
    try {
      await answerUploadPack(request, response, folder, exchange === 'advertise')
    } finally {
      active--
    }
  }

  const server: Server = createServer(
    { requestTimeout: 60_000, headersTimeout: 10_000, maxHeaderSize: 8192 },
    (request, response) => {
      answer(request, response).catch((error: unknown) => {
        // The path is the secret: it is not logged. A client that has seen enough simply leaves (go-git does, after the list of refs).
        const left = error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE'
        if (left) deps.log.debug({}, 'a source request was ended by its client')
        else deps.log.error({ error }, 'source request failed')
        response.destroy()
      })
    },
  )
  server.maxConnections = 256
  const sweep = setInterval(() => {
    deps.store.deleteExpired().catch((error: unknown) => deps.log.error({ error }, 'expired sources could not be deleted'))
  }, deps.sweepMilliseconds ?? 60_000)
  sweep.unref()

  return {
    listen: (host, port) =>
      new Promise((resolve, reject) => {
        server.once('error', reject)
        server.listen(port, host, () => {
          server.off('error', reject)
          const address = server.address()
          resolve(typeof address === 'object' && address !== null ? address.port : port)
        })
      }),
    close: () =>
      new Promise((resolve, reject) => {
        clearInterval(sweep)
        // Whoever puts the parts together ends all of them when one does not start: this one may not have.
        if (!server.listening) return resolve()
        server.close(error => (error ? reject(error) : resolve()))
        server.closeAllConnections()
      }),
  }
}
