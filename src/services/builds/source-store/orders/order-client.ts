// Sends orders to the source store over its unix socket. Every failure is an AppError that says whether another try may help.
import { Agent, type IncomingMessage, request as send } from 'node:http'
import { Readable } from 'node:stream'
import { AppError, messageOf } from '../../../../lib/errors.ts'
import { defined } from '../../../../lib/json/defined.ts'
import { sourceReasons } from '../reasons.ts'
import { encodeOrder, orderHeader, ownerPath, type PackOrder, parseRefusal, sourcePath } from './orders.ts'

export type OrderClient = {
  readonly has: (fingerprint: string) => Promise<boolean>
  /** Rejects with what `pack` throws, and with what the store refuses. */
  readonly store: (
    fingerprint: string,
    order: PackOrder,
    content: { readonly pack: AsyncIterable<Uint8Array>; readonly signal: AbortSignal },
  ) => Promise<void>
  readonly revoke: (fingerprint: string) => Promise<void>
  readonly revokeOwner: (owner: string) => Promise<void>
  readonly close: () => void
}

type Answer = { readonly status: number; readonly text: string }

/** Of an order without a pack. */
const shortMilliseconds = 10_000
const maxAnswer = 65_536

function unreachable(error: unknown): AppError {
  const message = `the source store does not answer: ${messageOf(error).slice(0, 200)}`
  return new AppError('unavailable', message, { reason: sourceReasons.fetchFailed, cause: error })
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = ''
  for await (const piece of response.setEncoding('utf8')) {
    text += String(piece)
    if (text.length > maxAnswer) throw new Error('its answer is too long')
  }
  return text
}

/** Sends nothing before the first call. */
export function createOrderClient(socket: string): OrderClient {
  const agent = new Agent({ keepAlive: true, maxSockets: 32, maxFreeSockets: 4 })

  type Sending = {
    readonly headers?: Record<string, string>
    readonly body?: AsyncIterable<Uint8Array>
    readonly signal: AbortSignal
  }

  function exchange(method: string, path: string, { headers = {}, body, signal }: Sending): Promise<Answer> {
    return new Promise((resolve, reject) => {
      let answered = false
      const request = send({ socketPath: socket, method, path, headers, agent, signal })
      const source = body && Readable.from(body, { objectMode: false })
      request.once('response', response => {
        answered = true
        // A refusal may come before the whole pack was sent: the rest is not needed.
        textOf(response)
          .then(
            text => resolve({ status: response.statusCode ?? 0, text }),
            reason => reject(unreachable(reason)),
          )
          .finally(() => {
            source?.destroy()
            if (!request.writableEnded) request.destroy()
          })
      })
      request.on('error', error => {
        source?.destroy()
        if (!answered) reject(signal.aborted ? signal.reason : unreachable(error))
      })
      if (source === undefined) return void request.end()
      source.once('error', error => {
        reject(error)
        request.destroy()
      })
      source.pipe(request)
    })
  }

  async function ordered(method: string, path: string, sending: Sending): Promise<Answer> {
    const answer = await exchange(method, path, sending)
    if (answer.status < 300 || answer.status === 404) return answer
    const refusal = parseRefusal(answer.text)
    if (refusal === undefined) throw unreachable(`it answered with the status ${answer.status}`)
    const { code, message, reason, retryAfterSeconds } = refusal
    throw new AppError(code, message, {
      ...defined({ reason, retryAfterSeconds }),
    })
  }

  const short = (method: string, path: string): Promise<Answer> =>
    ordered(method, path, { signal: AbortSignal.timeout(shortMilliseconds) })

  return {
    has: async fingerprint => (await short('GET', sourcePath(fingerprint))).status === 200,
    async store(fingerprint, order, { pack, signal }) {
      const headers = { [orderHeader]: encodeOrder(order), 'content-type': 'application/octet-stream' }
      await ordered('PUT', sourcePath(fingerprint), { headers, body: pack, signal })
    },
    async revoke(fingerprint) {
      await short('DELETE', sourcePath(fingerprint))
    },
    async revokeOwner(owner) {
      await short('DELETE', ownerPath(owner))
    },
    close: () => agent.destroy(),
  }
}
