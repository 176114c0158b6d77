// The control of the open loop: GitHub's receiver library, and a plain file to which deliveries are appended in groups. The
// file is flushed before the answer, so it promises what a database does, and knows no transaction, table or index: what its
// answers take is what the disk and two processors take. It has its size from the beginning, as the log of a database that has
// run for a while. Usage: folder
import { mkdtemp, open, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { createNodeMiddleware, Webhooks } from '@octokit/webhooks'
import { createGroupCommit } from '../../../src/store/database/group-commit.ts'
import { serveCommands } from '../harness/command-server.ts'
import { deliveryPath, webhookSecret } from './push-deliveries.ts'

const [parent = ''] = process.argv.slice(2)
/** As one file of PostgreSQL's log; written again from its beginning when it is full. */
const size = 16 * 1024 * 1024
const folder = await mkdtemp(join(parent, 'deliveries-'))
const file = await open(join(folder, 'log'), 'w')
await file.write(Buffer.alloc(size, 1))
await file.sync()

let place = 0
const appends = createGroupCommit<Buffer, true>({
  maxItems: 200,
  maxWaiting: 10_000,
  async write(deliveries) {
    const bytes = Buffer.concat(deliveries)
    if (place + bytes.length > size) place = 0
    await file.write(bytes, 0, bytes.length, place)
    place += bytes.length
    await file.datasync()
    return deliveries.map(() => true)
  },
  overflow: () => new Error('too many deliveries wait for the disk'),
})
const webhooks = new Webhooks({ secret: webhookSecret })
webhooks.on('push', async ({ id, payload }) => {
  const { ref, before, after, repository, installation, sender } = payload
  const kept = { ref, before, after, repository: repository.id, installation: installation?.id, sender: sender?.id }
  await appends.add(Buffer.from(`${JSON.stringify({ id, ...kept })}\n`))
})
const server = createServer(createNodeMiddleware(webhooks, { path: deliveryPath }))
await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
const address = server.address()
await serveCommands(async () => ({ port: typeof address === 'object' ? address?.port : undefined }))
await file.close()
await rm(folder, { recursive: true })
process.exit(0)
