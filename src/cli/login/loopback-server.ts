// Waits on this computer for the browser to come back (RFC 8252 §7.3): one address, one path, one answer, then gone.
import { timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import { AppError } from '../../lib/errors.ts'

const page = (text: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Sekisho</title></head><body><p>${text}</p></body></html>`

export type LoopbackServer = {
  readonly redirectUri: string
  /** The address that the browser was sent to, with its parameters. Throws `unavailable` after `waitMilliseconds`. */
  readonly callback: (waitMilliseconds: number) => Promise<URL>
  readonly close: () => Promise<void>
}

function sameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}

/** Only an answer that carries `state` ends the wait: other programs on this computer may ask too. */
export async function startLoopbackServer(state: string): Promise<LoopbackServer> {
  const arrived = Promise.withResolvers<URL>()
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 10_000, maxHeaderSize: 16_384 }, (request, response) => {
    const url = new URL(request.url ?? '/', redirectUri())
    const isAnswer = url.pathname === '/callback' && sameText(url.searchParams.get('state') ?? '', state)
    if (request.method !== 'GET' || !isAnswer) {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('nothing here\n')
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
        () => late.reject(new AppError('unavailable', 'nobody signed in in time: run sekisho login again')),
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
        // Browsers open connections ahead of need; one on which nothing was asked yet would keep us for half a minute.
        server.closeAllConnections()
      }),
  }
}
