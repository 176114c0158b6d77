// A proxy in front of an HTTP server: forwards requests and counts the writes among them. When the switch fires it closes every connection of the
// process, also while answers are in progress. The server keeps what it received, as it does when a client is killed.
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request as plain, type ServerResponse } from 'node:http'
import { request as secure } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { pipeline, type Transform } from 'node:stream'
import type { CrashSwitch } from './crash-switch.ts'

export type Upstream = {
  readonly url: URL
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string }
  readonly headers?: Readonly<Record<string, string>>
}

export type HttpProxyRules = {
  readonly upstream: Upstream
  /** The name of a write; undefined for a request that changes nothing. */
  readonly writeOf: (method: string, url: URL) => string | undefined
  /** Changes where a request is forwarded to. */
  readonly rewrite?: (method: string, url: URL) => void
  /** Changes the body of a 200 answer while it passes. */
  readonly filterOf?: (method: string, url: URL) => Transform | undefined
}

export type CrashProxy = {
  readonly url: string
  readonly port: number
  /** Closes every connection. */
  readonly cut: () => void
  readonly close: () => Promise<void>
}

async function bodyOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of message) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
}

function passedHeaders(headers: IncomingHttpHeaders, host: string): IncomingHttpHeaders {
  // Bodies must not be compressed: the filters read them.
  const { connection: _connection, 'accept-encoding': _encoding, 'transfer-encoding': _transfer, ...rest } = headers
  return { ...rest, host }
}

type Forwarded = {
  readonly incoming: IncomingMessage
  readonly url: URL
  readonly body: Buffer
  readonly signal: AbortSignal
}

function send({ upstream }: HttpProxyRules, { incoming, url, body, signal }: Forwarded): Promise<IncomingMessage> {
  const start = upstream.url.protocol === 'https:' ? secure : plain
  const headers = {
    ...passedHeaders(incoming.headers, upstream.url.host),
    ...upstream.headers,
    'content-length': String(body.length),
  }
  return new Promise((resolve, reject) => {
    const sent = start(url, { method: incoming.method ?? 'GET', headers, signal, ...upstream.tls })
    sent.once('response', resolve).once('error', reject)
    sent.end(body)
  })
}

/** Without connection headers; a link to the next page leads through the proxy as well. */
function answerHeaders({ headers }: IncomingMessage, origin: string, proxyHost: string | undefined): IncomingHttpHeaders {
  const { connection: _connection, 'transfer-encoding': _transfer, ...kept } = headers
  if (typeof kept.link === 'string') kept.link = kept.link.replaceAll(origin, `http://${proxyHost}`)
  return kept
}

function streamAnswer(
  answer: IncomingMessage,
  response: ServerResponse,
  headers: IncomingHttpHeaders,
  filter: Transform | undefined,
): void {
  const { statusCode = 502 } = answer
  if (filter !== undefined) delete headers['content-length']
  response.writeHead(statusCode, headers)
  response.flushHeaders()
  const parts = statusCode === 200 && filter !== undefined ? [answer, filter, response] : [answer, response]
  // An error means that one side closed; `pipeline` closes the other.
  pipeline(parts, () => {})
}

export async function openHttpProxy(crash: CrashSwitch, rules: HttpProxyRules): Promise<CrashProxy> {
  const sockets = new Set<Socket>()

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', rules.upstream.url)
    const method = request.method ?? 'GET'
    const write = rules.writeOf(method, url)
    const filter = rules.filterOf?.(method, url)
    rules.rewrite?.(method, url)
    const body = await bodyOf(request)
    if (crash.dead() || (write !== undefined && !crash.mayPass(write))) return void request.socket.destroy()
    const gone = new AbortController()
    // A write that was sent is made even if nobody waits for its answer; a read without a reader is aborted.
    if (write === undefined) response.once('close', () => gone.abort())
    const answer = await send(rules, { incoming: request, url, body, signal: gone.signal })
    const headers = answerHeaders(answer, rules.upstream.url.origin, request.headers.host)
    if (write === undefined) return streamAnswer(answer, response, headers, filter)
    const { statusCode = 502 } = answer
    const whole = await bodyOf(answer)
    const succeeded = statusCode >= 200 && statusCode < 300
    const mayAnswer = !succeeded || crash.mayAnswer(write)
    if (!mayAnswer || crash.dead()) return void request.socket.destroy()
    response.writeHead(statusCode, { ...headers, 'content-length': String(whole.length) }).end(whole)
  }

  const server = createServer((request, response) => {
    serve(request, response).catch(() => request.socket.destroy())
  })
  server.keepAliveTimeout = 120_000
  server.on('connection', socket => {
    if (crash.dead()) return void socket.destroy()
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const cut = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    cut,
    async close() {
      cut()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
