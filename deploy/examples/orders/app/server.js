// Takes orders (POST /orders, the text is what is ordered) and lists the last hundred (GET /orders).
import { createServer } from 'node:http'
import pg from 'pg'

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 4 })
// A session that the server ended, such as one of a login that was replaced: the pool makes another one when it needs it.
pool.on('error', error => console.log(`a session ended: ${error.message}`))
const commit = process.env.SEKISHO_COMMIT ?? 'unknown'
const port = Number(process.env.PORT ?? 8080)
const mostBytes = 1_000

async function textOf(request) {
  let text = ''
  for await (const chunk of request) {
    text += chunk
    if (text.length > mostBytes) throw new RangeError('too long')
  }
  return text
}

async function answer(request) {
  const path = URL.parse(request.url ?? '/', 'http://orders')?.pathname
  if (path === '/version') return [200, { commit, user: decodeURIComponent(new URL(process.env.DATABASE_URL).username) }]
  if (path !== '/orders') return [404, { error: 'not found' }]
  if (request.method === 'POST') {
    const { rows } = await pool.query('INSERT INTO orders (what) VALUES ($1) RETURNING id', [await textOf(request)])
    return [201, rows[0]]
  }
  const { rows } = await pool.query('SELECT id, what, at FROM orders ORDER BY at DESC LIMIT 100')
  return [200, rows]
}

const server = createServer(async (request, response) => {
  const [status, body] = await answer(request).catch(error => {
    console.error(error.message)
    return [error instanceof RangeError ? 413 : 500, { error: error instanceof RangeError ? error.message : 'it is in the log' }]
  })
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' }).end(JSON.stringify(body))
})
server.listen(port, () => console.log(`orders ${commit} listens on port ${port}`))

// Kubernetes ends a pod by SIGTERM: requests that arrived are answered first.
process.on('SIGTERM', () => server.close(() => pool.end()))
