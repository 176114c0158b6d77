// A proxy in front of an HTTP server: passes requests on, counts the writes among them, and is dead the moment the switch fires: every
// connection of the process is cut, also answers under way. What the outside has taken by then it keeps, as with a process that is killed.
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
  /** The name of a write; undefined for everything that changes nothing outside. */
  readonly writeOf: (method: string, url: URL) => string | undefined
  /** Where a request really goes. */
  readonly rewrite?: (method: string, url: URL) => void
  /** Changes the body of an answer 200 as it passes. */
  readonly filterOf?: (method: string, url: URL) => Transform | undefined
}

export type Proxy = {
  readonly url: string
  readonly port: number
  /** Cuts every connection. */
  readonly cut: () => void
  readonly close: () => Promise<void>
}

async function bodyOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of message) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
}

function passedHeaders(headers: IncomingHttpHeaders, host: string): IncomingHttpHeaders {
  // The proxy speaks plain to both sides: what it filters must not be packed.
  const { connection: _connection, 'accept-encoding': _encoding, 'transfer-encoding': _transfer, ...rest } = headers
  return { ...rest, host }
}

function send(
  rules: HttpProxyRules,
  request: IncomingMessage,
  url: URL,
  body: Buffer,
  asked: AbortSignal,
): Promise<IncomingMessage> {
  const { upstream } = rules
  const start = upstream.url.protocol === 'https:' ? secure : plain
  const headers = {
    ...passedHeaders(request.headers, upstream.url.host),
    ...upstream.headers,
    'content-length': String(body.length),
  }
  return new Promise((resolve, reject) => {
    const sent = start(url, { method: request.method ?? 'GET', headers, signal: asked, ...upstream.tls })
    sent.once('response', resolve).once('error', reject)
    sent.end(body)
  })
}

export async function openHttpProxy(crash: CrashSwitch, rules: HttpProxyRules): Promise<Proxy> {
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
    // A write that was sent is done, whoever waits for its answer; a read that nobody waits for ends.
    if (write === undefined) response.once('close', () => gone.abort())
    const answer = await send(rules, request, url, body, gone.signal)
    const { statusCode = 502, headers } = answer
    const { connection: _connection, 'transfer-encoding': _transfer, ...kept } = headers
    // The next page is asked for through the proxy too.
    if (typeof kept.link === 'string')
      kept.link = kept.link.replaceAll(rules.upstream.url.origin, `http://${request.headers.host}`)
    if (write === undefined) {
      if (filter !== undefined) delete kept['content-length']
      response.writeHead(statusCode, kept)
      response.flushHeaders()
      const parts = statusCode === 200 && filter !== undefined ? [answer, filter, response] : [answer, response]
      // An error here is one side that went away: the other is ended by `pipeline`.
      pipeline(parts, () => {})
      return
    }
    const whole = await bodyOf(answer)
    const succeeded = statusCode >= 200 && statusCode < 300
    const mayAnswer = !succeeded || crash.mayAnswer(write)
    if (!mayAnswer || crash.dead()) return void request.socket.destroy()
    response.writeHead(statusCode, { ...kept, 'content-length': String(whole.length) }).end(whole)
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
