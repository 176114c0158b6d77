// Over real connections: what clients send slowly or announce must not occupy more than the budget, and must not be parsed.
import { connect, type Socket } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { silentLog } from '../lib/testing/silent-log.ts'
import { limitBodies } from './body-budget.ts'
import { createWebServer, listen } from './server.ts'

const bodyLimit = 1000

async function start(budget: { readonly requests: number; readonly bytes: number }) {
  const server = await createWebServer({ log: silentLog, bodyLimit, requestsPerMinute: 'unlimited' })
  limitBodies(server, { ...budget, bodyLimit })
  const parsed = vi.fn()
  server.post('/', async request => {
    parsed(request.body)
    return 'done'
  })
  const port = await listen(server, { host: '127.0.0.1', port: 0 })
  onTestFinished(async () => {
    server.server.closeAllConnections()
    await server.close()
  })
  return { port, parsed }
}

/** Sends a text and collects what comes back. */
function send(port: number, text: string): { readonly socket: Socket; readonly received: () => string } {
  let received = ''
  const socket = connect(port, '127.0.0.1', () => socket.write(text))
  socket.on('data', chunk => {
    received += chunk.toString()
  })
  onTestFinished(() => void socket.destroy())
  return { socket, received: () => received }
}

const head = (headers: string): string => `POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${headers}\r\n\r\n`
const whole = `${head('content-length: 2')}{}`

test('requests beyond the number are refused at once and unread; the place of one that ended is free again', async () => {
  const { port, parsed } = await start({ requests: 2, bytes: 10_000 })
  const slow = [send(port, `${head('content-length: 10')}{`), send(port, `${head('content-length: 10')}{`)]
  // Until both are in progress another one may be answered.
  const refused = await vi.waitFor(async () => {
    const answer = send(port, whole)
    await vi.waitFor(() => expect(answer.received()).not.toBe(''))
    expect(answer.received()).toMatch(/^HTTP\/1.1 503 /)
    return answer.received()
  })
  expect(refused).toMatch(/retry-after: 1/i)
  expect(refused).toMatch(/connection: close/i)
  const calls = parsed.mock.calls.length
  slow[0]?.socket.destroy()
  await vi.waitFor(async () => {
    const answer = send(port, whole)
    await vi.waitFor(() => expect(answer.received()).toMatch(/^HTTP\/1.1 200 /))
  })
  expect(parsed.mock.calls.length).toBeGreaterThan(calls)
})

test.each([
  ['announce more than the budget', 'content-length: 900'],
  ['announce no length', 'transfer-encoding: chunked'],
])('bodies that together %s are refused by their heads', async (_what, headers) => {
  const { port } = await start({ requests: 100, bytes: 1500 })
  send(port, head('content-length: 900'))
  await vi.waitFor(async () => {
    const answer = send(port, head(headers))
    await vi.waitFor(() => expect(answer.received()).toMatch(/^HTTP\/1.1 503 /))
  })
  const small = send(port, whole)
  await vi.waitFor(() => expect(small.received()).toMatch(/^HTTP\/1.1 200 /))
})
