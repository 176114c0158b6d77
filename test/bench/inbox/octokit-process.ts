// The peer: GitHub's own receiver library on Node's server, with a handler that does nothing. It checks the signature, parses
// the body and stores nothing.
import { createServer } from 'node:http'
import { createNodeMiddleware, Webhooks } from '@octokit/webhooks'
import { serveCommands } from '../harness/command-server.ts'
import { deliveryPath, webhookSecret } from './push-deliveries.ts'

const webhooks = new Webhooks({ secret: webhookSecret })
webhooks.on('push', () => {})
const server = createServer(createNodeMiddleware(webhooks, { path: deliveryPath }))
await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
const address = server.address()
await serveCommands(async () => ({ port: typeof address === 'object' ? address?.port : undefined }))
process.exit(0)
