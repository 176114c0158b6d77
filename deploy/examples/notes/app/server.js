// Serves the page that build.js made, and says which database it was given.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { database } from './database.js'

const page = readFileSync('public/index.html')
const { host, name } = database()
const commit = process.env.SEKISHO_COMMIT ?? 'unknown'
const port = Number(process.env.PORT ?? 8080)

const answers = {
  '/': ['text/html; charset=utf-8', page],
  '/version': ['application/json', JSON.stringify({ commit, database: `${name} on ${host}` })],
}

const server = createServer((request, response) => {
  const [type, body] = answers[URL.parse(request.url ?? '/', 'http://notes')?.pathname ?? ''] ?? []
  if (body === undefined) response.writeHead(404, { 'content-type': 'text/plain' }).end('not found')
  else response.writeHead(200, { 'content-type': type, 'cache-control': 'no-store' }).end(body)
})

server.listen(port, () => console.log(`notes ${commit} listens on port ${port}`))

for (const signal of ['SIGTERM', 'SIGINT']) {
  process.on(signal, () => {
    server.close(() => process.exit(0))
    server.closeIdleConnections()
  })
}
