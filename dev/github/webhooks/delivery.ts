// One delivery of one webhook: its record in the log, and the HTTP request. It never retries, like GitHub.
import { readFile } from 'node:fs/promises'
import { Agent, request } from 'undici'

export type Delivery = {
  readonly id: number
  /** Stays the same when the delivery is repeated. */
  readonly guid: string
  readonly appId: number
  readonly event: string
  readonly action: string | null
  readonly installationId: number | null
  readonly repositoryId: number | null
  readonly url: string
  readonly redelivery: boolean
  readonly deliveredAt: string
  /** Seconds. */
  readonly duration: number
  /** `OK`, or why it failed. */
  readonly status: string
  /** 502 without a connection, 504 without a response in time, as from a gateway. */
  readonly statusCode: number
  readonly request: { readonly headers: Readonly<Record<string, string>>; readonly payload: string }
  readonly response: { readonly headers: Readonly<Record<string, string>>; readonly payload: string }
}

export type Outcome = Pick<Delivery, 'status' | 'statusCode' | 'response'>

export type Sender = {
  send(url: string, headers: Readonly<Record<string, string>>, body: string): Promise<Outcome>
  close(): Promise<void>
}

/** GitHub ends the request after 10 seconds. */
const answerWithin = 10_000
const maxKeptAnswer = 16 * 1024

function plainHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  )
}

function failed(status: string, statusCode: number): Outcome {
  return { status, statusCode, response: { headers: {}, payload: '' } }
}

/** How a delivery without a connection is logged. */
export const unreachable = failed('failed to connect to host', 502)

function failure(error: unknown): Outcome {
  const name = error instanceof Error ? error.name : ''
  if (name === 'TimeoutError' || name === 'HeadersTimeoutError' || name === 'BodyTimeoutError') return failed('timed out', 504)
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code)) return failed('peer certificate cannot be authenticated', 502)
  return unreachable
}

/**
 * A sender over HTTP(S). `caFile` is the PEM file of the authorities of https receivers, read again when it changes; `within`
 * is how long a receiver may take, in milliseconds.
 */
export function createSender(caFile: string | undefined, within = answerWithin): Sender {
  let agent: Agent | undefined
  let agentCa: string | undefined

  const currentAgent = async (): Promise<Agent> => {
    const ca = caFile === undefined ? '' : await readFile(caFile, 'utf8').catch(() => '')
    if (agent && ca === agentCa) return agent
    const previous = agent
    agentCa = ca
    agent = new Agent({ connections: 4, connect: { timeout: within, ...(ca === '' ? {} : { ca }) } })
    if (previous) await previous.close()
    return agent
  }

  return {
    send: async (url, headers, body) => {
      try {
        const dispatcher = await currentAgent()
        const answer = await request(url, {
          method: 'POST',
          headers,
          body,
          dispatcher,
          signal: AbortSignal.timeout(within),
        })
        const payload = (await answer.body.text()).slice(0, maxKeptAnswer)
        const ok = answer.statusCode >= 200 && answer.statusCode < 300
        return {
          status: ok ? 'OK' : `Invalid HTTP Response: ${answer.statusCode}`,
          statusCode: answer.statusCode,
          response: { headers: plainHeaders(answer.headers), payload },
        }
      } catch (error) {
        return failure(error)
      }
    },
    close: async () => {
      await agent?.destroy()
    },
  }
}
