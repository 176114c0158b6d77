// The API server of this bench: answers lists at once (whole or in pages) and holds watches until the command `send`; then it
// writes the events as fast as the reader accepts them, in chunks that do not align with lines, as on a network.
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { application } from '../../../src/api/apps/application.ts'
import { dispatchCommands } from '../harness/command-server.ts'
import { eventsBytes, listText } from './recording.ts'

const pieceBytes = 32 * 1024
const path = `/apis/${application.apiVersion}/${application.plural}`

let objects = 0
let bytes: Buffer = Buffer.alloc(0)
let watcher = Promise.withResolvers<ServerResponse>()

const server = createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://localhost')
  if (url.pathname !== path) {
    response.writeHead(404).end()
    return
  }
  response.writeHead(200, { 'content-type': 'application/json' })
  if (url.searchParams.get('watch') === 'true') {
    response.flushHeaders()
    watcher.resolve(response)
    return
  }
  const from = Number(url.searchParams.get('continue') ?? '0')
  const limit = Number(url.searchParams.get('limit') ?? '0') || objects
  response.end(listText({ from, limit, objects }))
})

async function send(response: ServerResponse): Promise<void> {
  for (let start = 0; start < bytes.length; start += pieceBytes) {
    if (response.destroyed) return
    if (!response.write(bytes.subarray(start, start + pieceBytes)))
      await Promise.race([once(response, 'drain'), once(response, 'close')])
  }
}

server.listen(0, '127.0.0.1')
await once(server, 'listening')
await dispatchCommands({
  async prepare(command) {
    objects = Number(command['objects'])
    bytes = eventsBytes(objects, Number(command['events']))
    const address = server.address()
    return { port: typeof address === 'object' ? address?.port : 0, bytes: bytes.length }
  },
  /** Answers when the watch is open and the first chunk is being sent. */
  async send() {
    const response = await watcher.promise
    watcher = Promise.withResolvers()
    send(response).catch(() => response.destroy())
    return { sending: true }
  },
})
process.exit(0)
