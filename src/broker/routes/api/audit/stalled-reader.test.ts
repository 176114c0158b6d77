// A reader of the stream that stops reading: no more of the log is fetched than fits on the way, so that the server does not
// grow with the log.
import { get } from 'node:http'
import type { Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
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
  const origin = `http://127.0.0.1:${await listen(server, { host: '127.0.0.1', port: 0 })}`
  onTestFinished(() => server.close())
  const headers = { authorization: 'Bearer a-token-of-the-platform-here' }
  const reader = get(`${origin}/api/v1/audit/stream?after=0`, { headers }, answer => {
    answer.once('data', () => answer.pause())
  })
  onTestFinished(() => void reader.destroy())

  const sent = (): number => (sockets[0]?.bytesWritten ?? 0) - (sockets[0]?.writableLength ?? 0)
  let before = 0
  await waitUntil('the socket to take no more', async seen => {
    const now = seen(sent())
    const isStill = now > 0 && now === before && (sockets[0]?.writableLength ?? 0) > 0
    before = now
    return isStill
  })
  expect((counted.fetched - sent()) / lineBytes).toBeLessThan(maxHeld)
  expect(sent()).toBeLessThan(maxOnTheWay)
})
