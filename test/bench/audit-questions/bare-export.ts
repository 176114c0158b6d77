// The peer of an export: pages of 1,000 rows as the driver gives them, as JSON lines over HTTP, and a reader that parses and
// prints each line. It asks nobody whether its reader may, goes on after no break, and checks nothing.
import { Readable } from 'node:stream'
import type { Database } from '../../../src/store/database/database.ts'
import type { WebServer } from '../../../src/web/server.ts'

const rowsInPage = 1000
const columns = 'sequence, at, action, actor, namespace, object, outcome, reason, details, previous_hash AS "previousHash", hash'

async function* lines(pool: Database['pool'], after: string): AsyncGenerator<string> {
  for (let last = after; ; ) {
    const { rows } = await pool.query<{ readonly sequence: string }>(
      `SELECT ${columns} FROM audit.entries WHERE sequence > $1 ORDER BY sequence LIMIT ${rowsInPage}`,
      [last],
    )
    yield rows.map(row => `${JSON.stringify(row)}\n`).join('')
    if (rows.length < rowsInPage) return
    last = rows.at(-1)?.sequence ?? last
  }
}

/** `GET /bare?after=`, beside the routes of the platform. */
export function registerBareExport(server: WebServer, pool: Database['pool']): void {
  server.get('/bare', async (request, reply) => {
    const { after = '0' } = request.query as { readonly after?: string }
    return reply.type('application/x-ndjson').send(Readable.from(lines(pool, after)))
  })
}

/** The number of lines. */
export async function readBareExport(issuer: string, after: number, print: (text: string) => void): Promise<number> {
  const response = await fetch(`${issuer}/bare?after=${after}`)
  const decoder = new TextDecoder()
  let count = 0
  let rest = ''
  for await (const chunk of response.body ?? []) {
    const complete = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = complete.pop() ?? ''
    count += complete.length
    if (complete.length > 0) print(complete.map(line => JSON.stringify(JSON.parse(line))).join('\n'))
  }
  return count
}
