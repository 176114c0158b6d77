// The example shop: answers a page on `/`, the commit that the platform says it runs on `/version`, and its health on `/healthz`.
// It is ordinary Node.js and uses nothing of the platform except the environment variables PORT and SEKISHO_COMMIT.
import { createServer } from 'node:http'

const port = Number(process.env.PORT ?? 8080)
const commit = process.env.SEKISHO_COMMIT ?? 'unknown'
const title = 'The little shop'

const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>${title}</title>
<style>body { font: 1.1rem/1.5 system-ui, sans-serif; max-width: 40rem; margin: 4rem auto; padding: 0 1rem }</style>
<h1>${title}</h1>
<p>Green tea, straw sandals, travel permits.</p>
<p><small>commit <code>${escapeHtml(commit)}</code></small></p>
</html>
`

function escapeHtml(text) {
  return text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)
}

const answers = {
  '/': ['text/html; charset=utf-8', page],
  '/version': ['application/json', JSON.stringify({ commit })],
  '/healthz': ['text/plain', 'ok'],
}

const server = createServer((request, response) => {
  const path = new URL(request.url ?? '/', 'http://shop').pathname
  const [type, body] = answers[path] ?? []
  if (body === undefined) {
    response.writeHead(404, { 'content-type': 'text/plain' }).end('not found')
    return
  }
  response.writeHead(200, { 'content-type': type, 'cache-control': 'no-store' }).end(body)
})

server.listen(port, () => console.log(`shop ${commit} listens on port ${port}`))

// Node as process 1 gets no default handling of SIGTERM: without this, every rollout waits for the grace period.
for (const signal of ['SIGTERM', 'SIGINT']) {
  process.on(signal, () => {
    server.close(() => process.exit(0))
    server.closeIdleConnections()
  })
}
