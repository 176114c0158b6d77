// A server to test the proxy itself against: it answers with what it was asked, and its one watch says what the test says.
import { createServer, type ServerResponse } from 'node:http'
import { Agent } from 'undici'
import type { Upstream } from './upstream.ts'

export type SmallUpstream = {
  readonly upstream: Upstream
  /** Method and URL of every request that arrived. */
  readonly seen: readonly string[]
  /** Sends a line on every open watch. */
  readonly say: (type: string, name: string, resourceVersion: string) => void
  readonly endWatches: () => void
  readonly openWatches: () => number
  readonly close: () => Promise<void>
}

export async function startSmallUpstream(): Promise<SmallUpstream> {
  const seen: string[] = []
  const watches = new Set<ServerResponse>()
  const server = createServer((incoming, outgoing) => {
    seen.push(`${incoming.method} ${incoming.url}`)
    incoming.resume()
    outgoing.setHeader('content-type', 'application/json')
    if (incoming.url?.includes('watch=true')) {
      outgoing.flushHeaders()
      watches.add(outgoing)
      outgoing.on('close', () => watches.delete(outgoing))
      return
    }
    outgoing.end(
      JSON.stringify({ metadata: { resourceVersion: '7', uid: 'u-7' }, authorization: incoming.headers.authorization }),
    )
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the small upstream has no port')
  return {
    upstream: {
      server: new URL(`http://127.0.0.1:${address.port}`),
      authorization: 'Bearer upstream',
      dispatcher: new Agent({ headersTimeout: 0, bodyTimeout: 0 }),
    },
    seen,
    say(type, name, resourceVersion) {
      const object = { metadata: { name, namespace: 'acme', resourceVersion } }
      for (const watch of watches) watch.write(`${JSON.stringify({ type, object })}\n`)
    },
    endWatches() {
      for (const watch of watches) watch.end()
    },
    openWatches: () => watches.size,
    async close() {
      server.closeAllConnections()
      await new Promise<void>(resolve => server.close(() => resolve()))
    },
  }
}
