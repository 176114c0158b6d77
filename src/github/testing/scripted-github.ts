// A loopback HTTP server that answers as a test scripts it and records the requests. For cases that the emulator does not show:
// wrong clocks, wider tokens, oversized answers, redirects. Test code only.
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Asked = {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}
export type ScriptedAnswer = {
  readonly status: number
  readonly body?: unknown
  /** In place of `body`: sent as it is. */
  readonly text?: string
  readonly headers?: Readonly<Record<string, string>>
}

export type ScriptedGitHub = AsyncDisposable & { readonly url: string; readonly asked: readonly Asked[] }

/** `answer` receives the request and the number of requests before it; it may take its time. */
export async function scriptedGitHub(
  answer: (asked: Asked, index: number) => ScriptedAnswer | Promise<ScriptedAnswer>,
): Promise<ScriptedGitHub> {
  const asked: Asked[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', async () => {
      const one: Asked = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      }
      const index = asked.push(one) - 1
      const reply = await answer(one, index)
      response.writeHead(reply.status, { 'content-type': 'application/json; charset=utf-8', ...reply.headers })
      response.end(reply.text ?? (reply.body === undefined ? undefined : JSON.stringify(reply.body)))
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
