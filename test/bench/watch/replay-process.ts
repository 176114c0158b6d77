// The API server of this bench: answers lists at once (whole or in pages) and holds watches until it is told to send, then writes the events
// as fast as the reader takes them, in pieces that do not follow the lines, as a network gives them.
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { application } from '../../../src/api/apps/application.ts'
import { answerQuestions } from '../harness/command-server.ts'
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
await answerQuestions({
  async prepare(question) {
    objects = Number(question['objects'])
    bytes = eventsBytes(objects, Number(question['events']))
    const address = server.address()
    return { port: typeof address === 'object' ? address?.port : 0, bytes: bytes.length }
  },
  /** Answers when the watch is there and the first piece is on its way. */
  async send() {
    const response = await watcher.promise
    watcher = Promise.withResolvers()
    send(response).catch(() => response.destroy())
    return { sending: true }
  },
})
process.exit(0)
