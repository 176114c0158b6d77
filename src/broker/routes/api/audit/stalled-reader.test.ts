// A reader of the stream that stops reading, by the real command line's connection: no more of the log is fetched than fits on
// the way, so that neither end grows with the log.
import type { Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { createConnection } from '../../../../cli/connection.ts'
import { createPlatformApi } from '../../../../cli/platform-api.ts'
import { createFakeClock } from '../../../../lib/testing/fake-clock.ts'
import { waitUntil } from '../../../../lib/waiting/wait-until.ts'
import type { AuditQuery, EntryLines } from '../../../../store/audit/audit-rows.ts'
import { listen } from '../../../../web/server.ts'
import { createAuditServer } from './testing/audit-server.ts'

const megabyte = 1024 * 1024
const lineBytes = 10_000
const entries = 1_000_000
/** What two sockets of Linux keep at most by themselves (`tcp_wmem` and `tcp_rmem`), twice. */
const maxOnTheWay = 32 * megabyte
const quietTurns = 1000
/** Five pages of the stream: the one that it goes through, one ahead, and what Node.js has on the way to the socket. */
const maxHeld = 1000

/** A log that says how many bytes of it were fetched. */
function countedLog() {
  const counted = { fetched: 0 }
  const line = (sequence: number): string => {
    const text = JSON.stringify({ sequence, padding: '' })
    return `${JSON.stringify({ sequence, padding: 'x'.repeat(lineBytes - text.length - 1) })}\n`
  }
  const lines = async ({ after = 0, through = entries, limit }: AuditQuery): Promise<EntryLines> => {
    const count = Math.min(limit, through - after)
    const text = Array.from({ length: count }, (_, index) => line(after + index + 1)).join('')
    counted.fetched += text.length
    return { pieces: [text], count, last: after + count }
  }
  const head = async (sequence: number) => ({ sequence, hash: '' })
  const audit = { lines, head: () => head(entries), start: () => head(0), list: async () => [], names: async () => [] }
  return { counted, audit }
}

test('of what a reader that stopped did not read, the server holds a few pages, and what is on the way is bounded', async () => {
  const { counted, audit } = countedLog()
  const server = await createAuditServer({ audit, clock: createFakeClock() })
  const sockets: Socket[] = []
  server.addHook('onRequest', async ({ raw }) => void sockets.push(raw.socket))
  const issuer = `http://127.0.0.1:${await listen(server, { host: '127.0.0.1', port: 0 })}`
  const connection = createConnection({ issuer, caFile: undefined })
  onTestFinished(async () => {
    await connection.close()
    await server.close()
  })
  const api = createPlatformApi(issuer, 'a-token-of-the-platform-here', connection)
  const reading = api.follow('/api/v1/audit/stream', new URLSearchParams({ after: '0' }))[Symbol.asyncIterator]()
  onTestFinished(async () => void (await reading.return?.(undefined)))
  expect((await reading.next()).done).toBe(false)

  const sent = (): number => (sockets[0]?.bytesWritten ?? 0) - (sockets[0]?.writableLength ?? 0)
  await waitUntil('the socket to take no more', async () => {
    const before = sent()
    for (let passed = 0; passed < quietTurns; passed++) await turn()
    return (sockets[0]?.writableLength ?? 0) > 0 && sent() === before
  })
  expect((counted.fetched - sent()) / lineBytes).toBeLessThan(maxHeld)
  expect(sent()).toBeLessThan(maxOnTheWay)
})
