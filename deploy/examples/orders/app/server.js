// Takes orders (POST /orders, the text is what is ordered) and lists the last hundred (GET /orders); keeps a picture by its name
// (PUT and GET /pictures/<name>).
import { createServer } from 'node:http'
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import pg from 'pg'

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 4 })
// A session that the server ended, such as one of a login that was replaced: the pool makes another one when it needs it.
pool.on('error', error => console.log(`a session ended: ${error.message}`))
// The SDK finds the key, the region and the endpoint in the variables of the service.
const store = new S3Client({ forcePathStyle: true })
const Bucket = process.env.BUCKET_NAME
const commit = process.env.SEKISHO_COMMIT ?? 'unknown'
const port = Number(process.env.PORT ?? 8080)
const maxOrderBytes = 1_000
const maxPictureBytes = 1_000_000

async function bodyOf(request, maxBytes) {
  const chunks = []
  let bytes = 0
  for await (const chunk of request) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > maxBytes) throw new RangeError('too long')
  }
  return Buffer.concat(chunks)
}

async function picture(request, Key) {
  if (request.method !== 'PUT') {
    const found = await store.send(new GetObjectCommand({ Bucket, Key })).catch(error => {
      if (error.name === 'NoSuchKey') return undefined
      throw error
    })
    if (found === undefined) return [404, { error: 'not found' }]
    return [200, await found.Body.transformToByteArray(), found.ContentType]
  }
  const ContentType = request.headers['content-type'] ?? ''
  if (!/^image\/(png|jpeg|webp)$/.test(ContentType)) return [415, { error: 'a picture is a PNG, JPEG or WebP' }]
  const Body = await bodyOf(request, maxPictureBytes)
  await store.send(new PutObjectCommand({ Bucket, Key, Body, ContentType }))
  return [201, { stored: Key, bytes: Body.length }]
}

async function answer(request) {
  const path = URL.parse(request.url ?? '/', 'http://orders')?.pathname
  if (path === '/version') return [200, { commit, user: decodeURIComponent(new URL(process.env.DATABASE_URL).username) }]
  const [, name] = /^\/pictures\/([\w.-]{1,64})$/.exec(path ?? '') ?? []
  if (name !== undefined) return picture(request, name)
  if (path !== '/orders') return [404, { error: 'not found' }]
  if (request.method === 'POST') {
    const { rows } = await pool.query('INSERT INTO orders (what) VALUES ($1) RETURNING id', [(await bodyOf(request, maxOrderBytes)).toString()])
    return [201, rows[0]]
  }
  const { rows } = await pool.query('SELECT id, what, at FROM orders ORDER BY at DESC LIMIT 100')
  return [200, rows]
}

const server = createServer(async (request, response) => {
  const [status, body, type = 'application/json'] = await answer(request).catch(error => {
    console.error(error.message)
    return [error instanceof RangeError ? 413 : 500, { error: error instanceof RangeError ? error.message : 'it is in the log' }]
  })
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
  response.end(type === 'application/json' ? JSON.stringify(body) : body)
})
server.listen(port, () => console.log(`orders ${commit} listens on port ${port}`))

// Kubernetes ends a pod by SIGTERM: requests that arrived are answered first.
process.on('SIGTERM', () => server.close(() => pool.end()))
