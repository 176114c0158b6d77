// The server for orders of the controllers, on a unix socket that only they and this process can open. It takes packs, never
// tokens.
import { chmod, mkdir, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { dirname } from 'node:path'
import { AppError } from '../../../../lib/errors.ts'
import type { Log } from '../../../../lib/log.ts'
import type { HeldSources } from '../held-sources.ts'
import { decodeOrder, maxOrder, orderHeader, parseOrderPath, type Refusal, refusalOf } from './orders.ts'

export type OrderServer = {
  /**
   * Resolves when it listens. Replaces a socket that an earlier process left behind. Rejects with `invalid_configuration` when
   * it cannot.
   */
  readonly listen: () => Promise<void>
  /** Ends orders in progress too. Also before `listen`, and more than once. */
  readonly close: () => Promise<void>
}

export type OrderServerDeps = {
  /** At most 107 bytes: the kernel's limit (man unix(7)). */
  readonly socket: string
  readonly sources: Pick<HeldSources, 'has' | 'accept' | 'revoke' | 'revokeOwner'>
  readonly log: Log
}

const maxSocketPath = 107
const maxConnections = 64

function send(response: ServerResponse, status: number, body?: object): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(body === undefined ? '' : JSON.stringify(body))
}

/** Starts nothing before `listen`. */
export function createOrderServer({ socket, sources, log }: OrderServerDeps): OrderServer {
  async function store(request: IncomingMessage, response: ServerResponse, fingerprint: string): Promise<void> {
    const header = request.headers[orderHeader]
    const order = decodeOrder(typeof header === 'string' ? header : undefined)
    if (order === undefined) throw new AppError('invalid_request', `the header ${orderHeader} is missing or not an order`)
    const gone = new AbortController()
    const onClose = (): void => gone.abort(new AppError('unavailable', 'the controllers ended the order'))
    response.once('close', onClose)
    try {
      // The request stays open when git needs no more of it: the answer still has to be sent.
      const pack = request.iterator({ destroyOnReturn: false })
      send(response, 201, await sources.accept({ fingerprint, order, pack }, gone.signal))
    } finally {
      response.off('close', onClose)
      request.resume()
    }
  }

  type Handler = (id: string, request: IncomingMessage, response: ServerResponse) => Promise<void>

  const handlers: Readonly<Record<string, Handler>> = {
    'PUT source': (id, request, response) => store(request, response, id),
    'GET source': async (id, _request, response) => send(response, (await sources.has(id)) ? 200 : 404),
    'DELETE source': async (id, _request, response) => {
      await sources.revoke(id)
      send(response, 204)
    },
    'DELETE owner': async (id, _request, response) => {
      await sources.revokeOwner(id)
      send(response, 204)
    },
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = parseOrderPath(request.url ?? '')
    const handler = path && handlers[`${request.method} ${path.kind}`]
    if (!handler) throw new AppError('invalid_request', 'not an order of the source store')
    await handler(path.id, request, response)
  }

  function refuse(response: ServerResponse, error: unknown): void {
    if (!(error instanceof AppError)) log.error({ error }, 'order failed')
    const known = error instanceof AppError ? error : new AppError('internal', 'the source store failed: its log says why')
    const body: Refusal = refusalOf(known)
    if (response.headersSent) response.destroy()
    else send(response, known.status, body)
  }

  const server = createServer(
    { requestTimeout: 0, headersTimeout: 10_000, maxHeaderSize: maxOrder + 4096, keepAliveTimeout: 5_000 },
    (request, response) => {
      request.on('error', () => response.destroy())
      answer(request, response).catch((error: unknown) => refuse(response, error))
    },
  )
  server.maxConnections = maxConnections

  return {
    async listen() {
      if (Buffer.byteLength(socket) > maxSocketPath)
        throw new AppError('invalid_configuration', `SEKISHO_SOURCE_SOCKET must be at most ${maxSocketPath} bytes long`)
      await mkdir(dirname(socket), { recursive: true, mode: 0o770 })
      await rm(socket, { force: true })
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject)
        server.listen({ path: socket }, () => {
          server.off('error', reject)
          resolve()
        })
      })
      // The group is the pod's: the user of the controllers' container is in it, and nobody else mounts the folder.
      await chmod(socket, 0o660)
    },
    async close() {
      if (!server.listening) return
      const closed = new Promise<void>((resolve, reject) => server.close(error => (error ? reject(error) : resolve())))
      server.closeAllConnections()
      await closed
    },
  }
}
