// A server to test the proxy against: its answers echo the request, and its watches send the lines that the test requests.
import { createServer, type ServerResponse } from 'node:http'
import { Agent } from 'undici'
import type { Upstream } from './upstream.ts'

export type SmallUpstream = {
  readonly upstream: Upstream
  /** Method and URL of every request received. */
  readonly requests: readonly string[]
  /** Sends a line on every open watch. */
  readonly sendEvent: (type: string, name: string, resourceVersion: string) => void
  readonly endWatches: () => void
  readonly openWatches: () => number
  readonly close: () => Promise<void>
}

export async function startSmallUpstream(): Promise<SmallUpstream> {
  const requests: string[] = []
  const watches = new Set<ServerResponse>()
  const server = createServer((incoming, outgoing) => {
    requests.push(`${incoming.method} ${incoming.url}`)
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
    requests,
    sendEvent(type, name, resourceVersion) {
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
