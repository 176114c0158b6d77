// Plain HTTP for everything that is not a browser: the API server, the registry, the platform's APIs. It follows no redirect,
// trusts the authority of the installation, and shows every answer to the watcher that looks for what must never be in one.
import { Agent, type Dispatcher, request } from 'undici'
import { defined } from '../../../src/lib/json/defined.ts'

export type HttpAnswer = { readonly status: number; readonly text: string; readonly headers?: Readonly<Record<string, string>> }

export type HttpRequest = {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
  readonly milliseconds?: number
  /** Reads the head and this many bytes only: for answers that do not end. */
  readonly atMost?: number
}

export type Http = {
  readonly send: (url: string, options?: HttpRequest) => Promise<HttpAnswer>
  /** As it is, for layers of images. */
  readonly bytes: (url: string, headers: Readonly<Record<string, string>>) => Promise<Buffer>
  readonly close: () => Promise<void>
}

/** Every request names it: tools that read audit logs tell attacks, also those with tokens of the platform, from the platform. */
export const attackUserAgent = 'attack'

const patience = 20_000
const maxAnswer = 4_000_000

/** `seen` gets every answer, whole. */
export function createHttp(certificateAuthority: string, seen: (place: string, text: string) => void): Http {
  const agent = new Agent({ allowH2: false, connect: { ca: certificateAuthority, timeout: 5000 }, connections: 32 })
  return {
    async send(url, { method = 'GET', headers = {}, body, milliseconds = patience, atMost = maxAnswer } = {}) {
      const response = await request(url, {
        method: method as Dispatcher.HttpMethod,
        dispatcher: agent,
        headers: { 'user-agent': attackUserAgent, ...headers },
        signal: AbortSignal.timeout(milliseconds),
        ...defined({ body }),
      })
      const text = await readText(response.body, atMost)
      seen(`${method} ${new URL(url).host}${new URL(url).pathname}`, text)
      return { status: response.statusCode, text, headers: flat(response.headers) }
    },
    async bytes(url, headers) {
      const response = await request(url, { dispatcher: agent, headers, signal: AbortSignal.timeout(patience) })
      const bytes = Buffer.from(await response.body.arrayBuffer())
      if (response.statusCode !== 200) throw new Error(`${url}: ${response.statusCode}`)
      return bytes
    },
    close: () => agent.destroy(),
  }
}

async function readText(body: Dispatcher.ResponseData['body'], atMost: number): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    chunks.push(chunk as Buffer)
    size += (chunk as Buffer).length
    if (size >= atMost) break
  }
  return Buffer.concat(chunks).toString()
}

function flat(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')]))
}
