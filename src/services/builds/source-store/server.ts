// The HTTP server of the source store: two paths of git's smart protocol below an unguessable address, read-only. Everything
// else, and every unknown or expired address, is the same 404; an unknown one after a wait, because a new leader may still
// fetch it. Plain http: it is reachable inside the cluster only.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Clock } from '../../../lib/clock.ts'
import type { Log } from '../../../lib/log.ts'
import { periodic } from '../../../lib/periodic.ts'
import { guardConnections } from '../../../web/connections/guard-connections.ts'
import { answerUploadPack } from './git/upload-pack.ts'
import type { HeldSources } from './held-sources.ts'
import { createPatientLookup, usualPatienceMilliseconds } from './patient-lookup.ts'
import { parseSourcePath } from './source-address.ts'

export type SourceServer = {
  /** Resolves to the port; 0 asks for a free one. Also starts to delete expired sources. Rejects when it cannot listen. */
  readonly listen: (host: string, port: number) => Promise<number>
  /** Ends connections too. Also before `listen`, after one that failed, and more than once. */
  readonly close: () => Promise<void>
}

export type SourceServerDeps = {
  readonly store: Pick<HeldSources, 'lookup' | 'deleteExpired'>
  readonly clock: Clock
  /** How long a request waits for a source that is not there; by default a quarter of a minute. */
  readonly patienceMilliseconds?: number
  readonly log: Log
}

/** Requests answered at once; more get 503 with Retry-After. */
const maxConcurrent = 32
/** Clients are build pods, one connection or two each: one that opens many must not leave none for the builds of others. */
const connections = { most: 256, maxOfClient: 16 }
const sweepMilliseconds = 60_000

function plain(response: ServerResponse, status: number, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store', ...headers })
  response.end(status === 404 ? 'not found\n' : 'busy\n')
}

/** Which of the two requests of a fetch it is; undefined for anything else. */
function exchangeOf(request: IncomingMessage, service: string, query: URLSearchParams): 'advertise' | 'exchange' | undefined {
  if (service === 'info/refs')
    return request.method === 'GET' && query.get('service') === 'git-upload-pack' ? 'advertise' : undefined
  return request.method === 'POST' && request.headers['content-type'] === 'application/x-git-upload-pack-request'
    ? 'exchange'
    : undefined
}

/**
 * The HTTP server that build pods fetch from (git smart HTTP, upload-pack only). `listen` starts it and its sweep, `close` ends
 * both.
 */
export function createSourceServer(deps: SourceServerDeps): SourceServer {
  const { clock, patienceMilliseconds = usualPatienceMilliseconds } = deps
  const lookup = createPatientLookup({ lookup: deps.store.lookup, patienceMilliseconds, clock })
  let active = 0

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://source.invalid')
    const path = parseSourcePath(url.pathname)
    const exchange = path && exchangeOf(request, path.service, url.searchParams)
    const left = new AbortController()
    response.once('close', () => left.abort())
    const client = request.socket.remoteAddress ?? ''
    const folder = path && exchange ? await lookup(path.secret, client, left.signal) : undefined
    if (left.signal.aborted) return
    if (folder === undefined) return plain(response, 404)
    if (active >= maxConcurrent) return plain(response, 503, { 'retry-after': '1' })
    active++
    try {
      await answerUploadPack(request, response, folder, exchange === 'advertise')
    } finally {
      active--
    }
  }

  const server: Server = createServer(
    // By default Node looks at these limits only every half minute.
    { requestTimeout: 60_000, headersTimeout: 10_000, connectionsCheckingInterval: 1000, maxHeaderSize: 8192 },
    (request, response) => {
      answer(request, response).catch((error: unknown) => {
        // The path is the secret, so it is not logged. A client may close early: go-git does, after the list of refs.
        const closed = error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE'
        if (closed) deps.log.debug({}, 'source request closed by its client')
        else deps.log.error({ error }, 'source request failed')
        response.destroy()
      })
    },
  )
  guardConnections(server, connections)
  const sweep = periodic({
    ...deps,
    name: 'deletion of expired sources',
    everyMilliseconds: sweepMilliseconds,
    work: () => deps.store.deleteExpired(),
    waitsFirst: true,
  })

  return {
    listen: (host, port) =>
      new Promise((resolve, reject) => {
        server.once('error', reject)
        server.listen(port, host, () => {
          server.off('error', reject)
          sweep.start()
          const address = server.address()
          resolve(typeof address === 'object' && address !== null ? address.port : port)
        })
      }),
    async close() {
      await sweep.stop()
      // When one server of the process fails to start, all are closed: this one may not have started.
      if (!server.listening) return
      const closed = new Promise<void>((resolve, reject) => server.close(error => (error ? reject(error) : resolve())))
      server.closeAllConnections()
      await closed
    },
  }
}
