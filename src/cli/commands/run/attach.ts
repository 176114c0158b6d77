// Attaches to a container over a WebSocket, as kubectl does: what is typed goes in, what the program writes comes out, and the
// program learns the size of the terminal.
// Source: https://github.com/kubernetes/kubernetes/blob/master/staging/src/k8s.io/client-go/tools/remotecommand/websocket.go
import { type Agent, ping, WebSocket } from 'undici'
import { pods } from '../../../api/builtin/index.ts'
import type { ObjectKey } from '../../../api/resource.ts'
import type { KubeConnection } from '../../../kube/client/connection.ts'
import { errorFromStatus } from '../../../kube/client/errors.ts'
import { objectPath } from '../../../kube/client/resource-path.ts'
import { createAgent } from '../../../kube/client/transport.ts'
import type { Clock } from '../../../lib/clock.ts'
import { AppError, messageOf } from '../../../lib/errors.ts'
import { parseJson } from '../../../lib/json/json-value.ts'

export type AttachOptions = {
  readonly connection: KubeConnection
  readonly clock: Clock
  readonly pod: ObjectKey
  readonly container: string
  /** Whether the container has a terminal: then its errors are part of its output. */
  readonly tty: boolean
  /** Called with what the program writes; without it only input is attached. */
  readonly onOutput?: (bytes: Uint8Array) => void
}

export type Attached = {
  /** Resolves when more may be sent: at once, unless the program reads more slowly than it is written to. */
  readonly send: (bytes: Uint8Array) => Promise<void>
  readonly resize: (size: { readonly columns: number; readonly rows: number }) => void
  /** The program reads the end of its input. */
  readonly endInput: () => void
  /** Resolves when the connection has ended, by whomever. */
  readonly ended: Promise<void>
  readonly close: () => Promise<void>
}

const channels = { input: 0, output: 1, errors: 2, resize: 4, close: 255 } as const
/** Only version 5 can close one channel: https://github.com/kubernetes/enhancements/issues/4006 */
const protocols = ['v5.channel.k8s.io', 'v4.channel.k8s.io']
const frameBytes = 32 * 1024
const maxWaitingBytes = 1024 * 1024
/** A WebSocket has no event for it. */
const drainMilliseconds = 20
/** As kubectl; a proxy on the way ends what is silent. */
const pingMilliseconds = 5000

/** Rejects with KubeError for what the API server refuses, and with `unavailable` when it cannot be reached. */
export async function attach(options: AttachOptions): Promise<Attached> {
  const { connection, clock, tty, onOutput } = options
  const agent = createAgent(connection)
  const url = addressOf(options)
  const authorization = (await connection.authorization())?.reveal()
  const headers: Readonly<Record<string, string>> = authorization === undefined ? {} : { authorization }
  const socket = new WebSocket(url.href.replace(/^http/, 'ws'), { protocols, dispatcher: agent, headers })
  socket.binaryType = 'arraybuffer'
  const opened = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  socket.addEventListener('open', () => opened.resolve())
  socket.addEventListener('error', event => opened.reject(event.error ?? new Error('the connection failed')))
  socket.addEventListener('close', () => {
    opened.reject(new Error('the connection was closed'))
    ended.resolve()
  })
  socket.addEventListener('message', ({ data }) => {
    const bytes = new Uint8Array(data as ArrayBuffer)
    if (bytes[0] === channels.output || (bytes[0] === channels.errors && !tty)) onOutput?.(bytes.subarray(1))
  })
  try {
    await opened.promise
  } catch (cause) {
    const refused = await refusal(agent, url, headers)
    await agent.destroy()
    throw refused ?? new AppError('unavailable', `cannot attach to ${options.pod.name}: ${messageOf(cause)}`, { cause })
  }
  const pings = setInterval(() => ping(socket), pingMilliseconds)
  void ended.promise.then(() => clearInterval(pings))
  const isOpen = (): boolean => socket.readyState === WebSocket.OPEN
  const write = (channel: number, bytes: Uint8Array): void => {
    if (isOpen()) socket.send(Buffer.concat([Buffer.of(channel), bytes]))
  }
  return {
    async send(bytes) {
      for (let start = 0; start < bytes.length; start += frameBytes) {
        while (isOpen() && socket.bufferedAmount > maxWaitingBytes) await clock.sleep(drainMilliseconds)
        write(channels.input, bytes.subarray(start, start + frameBytes))
      }
    },
    resize: ({ columns, rows }) => write(channels.resize, Buffer.from(JSON.stringify({ Width: columns, Height: rows }))),
    endInput() {
      if (socket.protocol === protocols[0]) write(channels.close, Buffer.of(channels.input))
      else socket.close()
    },
    ended: ended.promise,
    async close() {
      socket.close()
      await agent.destroy()
    },
  }
}

function addressOf({ connection, pod, container, tty, onOutput }: AttachOptions): URL {
  const url = new URL(connection.server)
  url.pathname = `${url.pathname.replace(/\/$/, '')}${objectPath(pods, pod)}/attach`
  const isOut = onOutput !== undefined
  const flags = { stdin: true, stdout: isOut, stderr: isOut && !tty, tty }
  const query = new URLSearchParams({ container })
  for (const [name, isOn] of Object.entries(flags)) query.set(name, String(isOn))
  url.search = query.toString()
  return url
}

/** A WebSocket does not say why it was refused; the same request without the upgrade is refused in the same way. */
async function refusal(agent: Agent, url: URL, headers: Readonly<Record<string, string>>): Promise<Error | undefined> {
  try {
    const { statusCode, body } = await agent.request({
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method: 'GET',
      headers,
    })
    const text = (await body.text()).slice(0, 64 * 1024)
    const status = { status: statusCode, waitSeconds: undefined }
    return statusCode === 401 || statusCode === 403 || statusCode === 404
      ? errorFromStatus('attach', pods, parseJson(text), status)
      : undefined
  } catch {
    // The reason of the WebSocket itself counts.
    return undefined
  }
}
