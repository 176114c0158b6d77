// The server of a static site, bundled into one file that is alone in its layer. It listens on PORT without any privilege. What
// it serves never changes while it runs: another version of the site is another image.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { siteHandler } from './handler.ts'
import type { ServedSite } from './site.ts'

/** For clients that are slow on purpose: they hold a connection, never the server. */
const limits = {
  maxHeaderSize: 16_384,
  headersTimeout: 5_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 1_000,
}
/** Of a connection on which nothing moves, such as a download that nobody reads. */
const idleMilliseconds = 120_000
const maxConnections = 4_096

const site: ServedSite = JSON.parse(readFileSync(join(import.meta.dirname, 'site.json'), 'utf8'))
const server = createServer(limits, siteHandler(site))
server.maxConnections = maxConnections
server.setTimeout(idleMilliseconds)
// biome-ignore lint/style/noProcessEnv: this program is alone in its layer
const port = Number(process.env['PORT'] ?? 8080)
server.listen(port, () => {
  const address = server.address()
  console.log(`serving ${site.files.length} files on port ${typeof address === 'object' ? address?.port : port}`)
})
for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => server.close())
