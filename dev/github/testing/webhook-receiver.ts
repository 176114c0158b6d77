// An HTTP server that receives webhooks and keeps their raw bytes. For tests.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export type ReceivedWebhook = {
  readonly event: string
  readonly guid: string
  readonly signature: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
  readonly payload: Record<string, unknown>
}

export type WebhookReceiver = {
  readonly url: string
  readonly received: readonly ReceivedWebhook[]
  /** Responds with this status from now on. */
  answer(status: number): void
  /** The first webhook, past or future, that matches; rejects after 10 seconds. */
  waitFor(matches: (webhook: ReceivedWebhook) => boolean): Promise<ReceivedWebhook>
  close(): Promise<void>
}

/** Starts a receiver on a free port of 127.0.0.1. */
export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const received: ReceivedWebhook[] = []
  const waiting = new Set<() => void>()
  let status = 202
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8')
      const header = (name: string): string => String(request.headers[name] ?? '')
      received.push({
        event: header('x-github-event'),
        guid: header('x-github-delivery'),
        signature: header('x-hub-signature-256'),
        headers: request.headers,
        body,
        payload: JSON.parse(body) as Record<string, unknown>,
      })
      response.writeHead(status).end('taken')
      for (const wake of waiting) wake()
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/hook`,
    received,
    answer: next => {
      status = next
    },
    waitFor: matches =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          waiting.delete(check)
          reject(new Error(`no such webhook arrived; received: ${received.map(one => one.event).join(', ')}`))
        }, 10_000)
        const check = (): void => {
          const found = received.find(matches)
          if (!found) return
          waiting.delete(check)
          clearTimeout(timer)
          resolve(found)
        }
        waiting.add(check)
        check()
      }),
    close: () => new Promise(resolve => server.close(() => resolve())),
  }
}
