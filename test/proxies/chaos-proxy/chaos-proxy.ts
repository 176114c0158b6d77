// A reverse proxy between a process under test and a real API server, GitHub or registry: it plays armed faults, ends the
// process at a chosen write, and logs every request. It must not become such a server: everything that it forwards comes from
// the real one, and it stores none.
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { type Dispatcher, request as send } from 'undici'
import type { KubeConnection } from '../../../src/kube/client/connection.ts'
import { SecretString } from '../../../src/lib/secret-string.ts'
import { tokenKubeconfig } from '../../fixtures/token-kubeconfig.ts'
import type { CrashSwitch } from '../crash-switch.ts'
import { type ArmedFaults, createArmedFaults } from './armed-faults.ts'
import { type EventFacts, type EventFault, type RequestFault, type StatusFault, statusBody } from './faults.ts'
import { answerHeaders, requestHeaders } from './headers.ts'
import { createListener, type Listener } from './listener.ts'
import { isWrite, type RequestFacts, requestFacts } from './request-facts.ts'
import { createRequestLog, type LoggedRequest, type RequestLog } from './request-log.ts'
import type { Upstream } from './upstream.ts'
import { passWatchLines } from './watch-lines.ts'

export type PassedEvent = EventFacts & { readonly fault: EventFault['kind'] | undefined }

export type ChaosProxy = {
  readonly onRequest: ArmedFaults<RequestFault, RequestFacts>['arm']
  readonly onEvent: ArmedFaults<EventFault, EventFacts>['arm']
  /** Such as `http://127.0.0.1:40000`. */
  readonly url: string
  readonly down: Listener['down']
  readonly up: Listener['up']
  /** All existing connections stay open but carry nothing more. */
  readonly deaden: () => void
  /** Closes every connection. */
  readonly cut: () => void
  readonly openSockets: () => number
  readonly log: RequestLog
  /** Every line of every watch, in the order in which the server sent them. */
  readonly events: () => readonly PassedEvent[]
  /** For a client in this process. Others are refused: the proxy forwards with an administrator's credentials. */
  readonly connection: KubeConnection
  /** The same for another process, as the text of a kubeconfig. */
  readonly kubeconfig: () => string
  readonly close: () => Promise<void>
}

/** What the client sees of an API server that others use as well. */
export type View = {
  /** Where a request is sent to. */
  readonly pathOf: (facts: RequestFacts) => string
  /** Whether an object may be in the answer to a list, or a watch. */
  readonly shows: (object: ObjectName) => boolean
}

export type ObjectName = { readonly name: string; readonly namespace: string | undefined }

/** What the facts of a request to an API server do not say. */
export type WholeRequest = { /** Path and query. */ readonly url: string; readonly body: Buffer }

export type ProxyOptions = {
  /** Judges every request that `writeOf` names; nothing passes while it is dead. */
  readonly crash?: CrashSwitch | undefined
  readonly writeOf?: (facts: RequestFacts, request: WholeRequest) => string | undefined
  readonly view?: View
}

type Exchange = {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
  readonly entry: LoggedRequest
  readonly fault: RequestFault | undefined
  readonly body: Buffer
  /** What the crash switch knows it by. */
  readonly write: string | undefined
}

const largestRequestBytes = 4 * 1024 * 1024
/** Never ends: the next byte comes after this time. */
const dribbleMilliseconds = 1000

export async function startChaosProxy(
  upstream: Upstream,
  { crash, writeOf = () => undefined, view }: ProxyOptions = {},
): Promise<ChaosProxy> {
  const token = `Bearer ${randomBytes(24).toString('hex')}`
  const log = createRequestLog()
  const events: PassedEvent[] = []
  const requestFaults = createArmedFaults<RequestFault, RequestFacts>()
  const eventFaults = createArmedFaults<EventFault, EventFacts>()
  const server = createServer({ keepAliveTimeout: 0, requestTimeout: 0, headersTimeout: 0 })
  const listener = await createListener(server)

  async function forward({ incoming, entry, fault, body }: Exchange, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const url = new URL(incoming.url ?? '/', upstream.server)
    if (view !== undefined) url.pathname = view.pathOf(entry)
    for (const [name, value] of Object.entries(changedQuery(entry, fault))) url.searchParams.set(name, value)
    return send(url, {
      dispatcher: upstream.dispatcher,
      method: (incoming.method ?? 'GET') as Dispatcher.HttpMethod,
      headers: requestHeaders(incoming.headers, upstream),
      body: body.length === 0 ? null : body,
      signal,
    })
  }

  function refuse(outgoing: ServerResponse, entry: LoggedRequest, fault: StatusFault): void {
    const text = JSON.stringify(statusBody(fault))
    entry.status = fault.status
    entry.bytes = text.length
    const seconds = fault.retryAfterSeconds
    outgoing.writeHead(fault.status, {
      'content-type': 'application/json',
      ...(seconds === undefined ? {} : { 'retry-after': String(seconds) }),
      ...fault.headers,
    })
    outgoing.end(text)
  }

  const isShown = ({ type, ...object }: EventFacts): boolean =>
    view === undefined || type === 'BOOKMARK' || type === 'ERROR' || view.shows(object)

  async function passWatch(answer: Dispatcher.ResponseData, entry: LoggedRequest, outgoing: ServerResponse): Promise<void> {
    outgoing.flushHeaders()
    const end = await passWatchLines({
      body: answer.body,
      watch: entry,
      faultOf: event => eventFaults.take(event) ?? (isShown(event) ? undefined : { kind: 'drop' }),
      onEvent: (event, fault) => {
        events.push({ ...event, fault: fault?.kind })
        if (fault !== undefined) entry.fault = fault.kind
      },
      send(text) {
        if (outgoing.socket === null || listener.isDead(outgoing.socket)) return
        entry.bytes += Buffer.byteLength(text)
        outgoing.write(text)
      },
    })
    answer.body.destroy()
    if (end === 'reset') outgoing.socket?.resetAndDestroy()
    if (end === 'ended' && outgoing.socket !== null && !listener.isDead(outgoing.socket)) outgoing.end()
  }

  function beginAnswer(answer: Dispatcher.ResponseData, outgoing: ServerResponse): void {
    outgoing.statusCode = answer.statusCode
    for (const [name, value] of answerHeaders(answer.headers, upstream, address())) outgoing.setHeader(name, value)
  }

  async function answerWhole(answer: Dispatcher.ResponseData, exchange: Exchange): Promise<void> {
    const { incoming, outgoing, entry, fault, write } = exchange
    const whole = Buffer.from(await answer.body.arrayBuffer())
    const isMade = answer.statusCode >= 200 && answer.statusCode < 300
    if (!upstream.isOpen && isWrite(entry) && isMade) noteObject(entry, whole)
    entry.status = answer.statusCode
    if (fault?.kind === 'lose-answer') return void incoming.socket.resetAndDestroy()
    if (crash !== undefined && write !== undefined && isMade && !crash.mayAnswer(write)) return void incoming.socket.destroy()
    if (listener.isDead(incoming.socket)) return
    beginAnswer(answer, outgoing)
    const bytes = view !== undefined && entry.verb === 'list' && isMade ? shownItems(view, whole) : whole
    entry.bytes = bytes.length
    outgoing.end(bytes)
  }

  async function pass(exchange: Exchange): Promise<void> {
    const { incoming, outgoing, entry, fault, write } = exchange
    const gone = new AbortController()
    // A write that was sent is made even if nobody waits for its answer.
    if (write === undefined) outgoing.on('close', () => gone.abort())
    const answer = await forward(exchange, gone.signal)
    if (entry.verb !== 'watch' || answer.statusCode !== 200) return answerWhole(answer, exchange)
    entry.status = answer.statusCode
    if (listener.isDead(incoming.socket)) return void answer.body.destroy()
    beginAnswer(answer, outgoing)
    if (fault?.kind === 'stale') {
      outgoing.flushHeaders()
      await fault.until
    }
    return passWatch(answer, entry, outgoing)
  }

  function answerEndlessly(outgoing: ServerResponse): void {
    outgoing.writeHead(201, { 'content-type': 'application/json' })
    const dribble = setInterval(() => outgoing.write(' '), dribbleMilliseconds)
    outgoing.once('close', () => clearInterval(dribble))
  }

  async function play(exchange: Exchange): Promise<void> {
    const { incoming, outgoing, entry, fault } = exchange
    if (fault?.kind === 'refuse') return refuse(outgoing, entry, fault)
    if (fault?.kind === 'reset') return void incoming.socket.resetAndDestroy()
    if (fault?.kind === 'half-open') return listener.deaden(incoming.socket)
    if (fault?.kind === 'slow-body') return answerEndlessly(outgoing)
    if (fault?.kind === 'slow') await wait(fault.milliseconds)
    if (!outgoing.closed) await pass(exchange)
  }

  async function handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/', headers } = incoming
    const contentType = headers['content-type'] ?? ''
    const entry = log.add(requestFacts({ method, url, contentType, userAgent: headers['user-agent'] ?? '' }))
    outgoing.on('close', () => {
      entry.endedAt = performance.now()
    })
    const body = await bodyOf(incoming)
    if (!upstream.isOpen && !sameText(headers.authorization ?? '', token)) {
      const message = 'this proxy serves the test that started it'
      return refuse(outgoing, entry, { status: 401, reason: 'Unauthorized', message })
    }
    if (listener.isDead(incoming.socket)) return
    const write = writeOf(entry, { url, body })
    const mayPass = write === undefined ? crash?.dead() !== true : crash?.mayPass(write) !== false
    if (!mayPass) return void incoming.socket.destroy()
    const fault = requestFaults.take(entry)
    entry.fault = fault?.kind
    await play({ incoming, outgoing, entry, fault, body, write })
  }

  server.on('request', (incoming, outgoing) => {
    // The client or the server disconnected: the answer has no receiver, or no end.
    handle(incoming, outgoing).catch(() => incoming.socket.destroy())
  })

  const address = (): string => `http://127.0.0.1:${listener.port()}`
  return {
    onRequest: requestFaults.arm,
    onEvent: eventFaults.arm,
    url: address(),
    down: listener.down,
    up: listener.up,
    deaden: () => listener.deaden(),
    cut: listener.cut,
    openSockets: listener.open,
    log,
    events: () => events,
    connection: {
      server: new URL(address()),
      tls: {},
      authorization: async () => new SecretString(token),
    },
    kubeconfig: () =>
      tokenKubeconfig({ server: address(), certificateAuthority: undefined, token: token.slice('Bearer '.length) }),
    async close() {
      await listener.close()
      await upstream.dispatcher.destroy()
    },
  }
}

/** The query parameters by which a fault changes the request that the real server answers. */
function changedQuery({ verb, continues }: RequestFacts, fault: RequestFault | undefined): Readonly<Record<string, string>> {
  if (fault?.kind === 'shorten' && verb === 'watch') return { timeoutSeconds: String(fault.seconds) }
  if (fault?.kind !== 'stale' || continues) return {}
  const { resourceVersion } = fault
  return verb === 'list' ? { resourceVersion, resourceVersionMatch: 'Exact' } : { resourceVersion }
}

async function bodyOf(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of incoming) {
    const bytes = Buffer.from(chunk)
    size += bytes.length
    if (size > largestRequestBytes) throw new Error('the request is larger than an API server takes')
    chunks.push(bytes)
  }
  return Buffer.concat(chunks)
}

/** A list with the items that the client may see. */
function shownItems({ shows }: View, bytes: Buffer): Buffer {
  type Item = { readonly metadata?: { readonly name?: string; readonly namespace?: string } }
  const list = JSON.parse(bytes.toString('utf8')) as { readonly items?: readonly Item[] }
  const items = (list.items ?? []).filter(({ metadata }) => shows({ name: metadata?.name ?? '', namespace: metadata?.namespace }))
  return Buffer.from(JSON.stringify({ ...list, items }))
}

/** A deletion may be answered with a Status, which has no version. */
function noteObject(entry: LoggedRequest, bytes: Buffer): void {
  const { metadata } = JSON.parse(bytes.toString('utf8')) as {
    readonly metadata?: { readonly resourceVersion?: string; readonly uid?: string }
  }
  entry.answeredVersion = metadata?.resourceVersion
  entry.answeredUid = metadata?.uid
}

function sameText(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}
