// Answers with the time, and with the time at which its image was built.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'

const builtAt = readFileSync('built-at', 'utf8').trim()
const commit = process.env.SEKISHO_COMMIT ?? 'unknown'

const server = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' })
  response.end(JSON.stringify({ now: new Date().toISOString(), builtAt, commit }))
})

server.listen(Number(process.env.PORT ?? 8080))
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => server.close(() => process.exit(0)))
