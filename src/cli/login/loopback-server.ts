// Receives the redirect of the browser on this computer (RFC 8252 §7.3). It accepts one response with the right state, and no
// other path.
import { createServer } from 'node:http'
import { AppError } from '../../lib/errors.ts'
import { equalInConstantTime } from '../../lib/text/constant-time.ts'

const page = (text: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Sekisho</title></head><body><p>${text}</p></body></html>`

export type LoopbackServer = {
  readonly redirectUri: string
  /** Resolves to the redirect URL with its parameters. Rejects with `unavailable` after `waitMilliseconds`. */
  readonly callback: (waitMilliseconds: number) => Promise<URL>
  /** Ends all connections. */
  readonly close: () => Promise<void>
}

/**
 * Listens on a free loopback port. Only a request with `state` is accepted, because other programs on this computer can reach
 * the port.
 */
export async function startLoopbackServer(state: string): Promise<LoopbackServer> {
  const arrived = Promise.withResolvers<URL>()
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 10_000, maxHeaderSize: 16_384 }, (request, response) => {
    const url = new URL(request.url ?? '/', redirectUri())
    const isAnswer = url.pathname === '/callback' && equalInConstantTime(url.searchParams.get('state') ?? '', state)
    if (request.method !== 'GET' || !isAnswer) {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('not found\n')
      return
    }
    const headers = {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'",
      connection: 'close',
    }
    const refused = url.searchParams.has('error')
    response
      .writeHead(200, headers)
      .end(page(refused ? 'The sign-in was refused.' : 'You are signed in. You can close this page.'), () => arrived.resolve(url))
  })
  const redirectUri = (): string => {
    const address = server.address()
    if (typeof address !== 'object' || address === null) throw new AppError('internal', 'the loopback server has no address')
    return `http://127.0.0.1:${address.port}/callback`
  }
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  return {
    redirectUri: redirectUri(),
    async callback(waitMilliseconds) {
      const late = Promise.withResolvers<never>()
      const timer = setTimeout(
        () => late.reject(new AppError('unavailable', 'the sign-in was not completed in time: run sekisho login again')),
        waitMilliseconds,
      )
      try {
        return await Promise.race([arrived.promise, late.promise])
      } finally {
        clearTimeout(timer)
      }
    },
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        // Browsers open connections in advance; one without a request would delay the end by half a minute.
        server.closeAllConnections()
      }),
  }
}
