// The peer: oidc-provider's `client_credentials` over TLS with one client and its own storage in memory. It checks the client's
// secret and makes an opaque token; nobody else is asked, and nothing is durable. Usage: certificate.pem key.pem
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import Provider from 'oidc-provider'
import { serveCommands } from '../harness/command-server.ts'
import { peerClient } from './peer-client.ts'

const [certificatePath = '', keyPath = ''] = process.argv.slice(2)
// Standard output carries the answers; the library writes its notices there.
console.info = console.error
const provider = new Provider('https://localhost', {
  clients: [
    {
      ...{ client_id: peerClient.id, client_secret: peerClient.secret, grant_types: ['client_credentials'] },
      ...{ redirect_uris: [], response_types: [] },
    },
  ],
  features: { clientCredentials: { enabled: true }, devInteractions: { enabled: false } },
})
const server = createServer({ cert: readFileSync(certificatePath), key: readFileSync(keyPath) }, provider.callback())
await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
const address = server.address()
await serveCommands(async () => ({ port: typeof address === 'object' ? address?.port : undefined }))
process.exit(0)
