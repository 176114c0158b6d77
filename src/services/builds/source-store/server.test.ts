// What one client can occupy of the server that builds of all tenants fetch from, before it has named a source.
import { connect, type Socket } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { systemClock } from '../../../lib/clock.ts'
import { silentLog } from '../../../lib/testing/silent-log.ts'
import { waitUntil } from '../../../lib/waiting/wait-until.ts'
import { createSourceServer } from './server.ts'

test('a client that opens many connections leaves room for others, and nothing is looked up for paths that are not a source', async () => {
  const lookup = vi.fn(async () => undefined)
  const server = createSourceServer({ store: { lookup, deleteExpired: async () => {} }, clock: systemClock, log: silentLog })
  const port = await server.listen('127.0.0.1', 0)
  onTestFinished(server.close)
  /** From an address of its own, as each pod has. */
  const open = (localAddress: string): Socket => {
    const socket = connect({ host: '127.0.0.1', port, localAddress })
    socket.on('error', () => {})
    onTestFinished(() => void socket.destroy())
    return socket
  }
  const greedy = Array.from({ length: 300 }, () => open('127.0.0.2'))
  await waitUntil(
    'the connections above the bound to be closed',
    seen => seen(greedy.filter(({ closed }) => closed).length) > 270,
  )
  const modest = open('127.0.0.3')
  let answer = ''
  modest.on('data', chunk => {
    answer += chunk.toString()
  })
  modest.write('GET /short/source.git/info/refs?service=git-upload-pack HTTP/1.1\r\nhost: x\r\n\r\n')
  await waitUntil('an answer to the modest client', seen => /^HTTP\/1.1 404 /.test(seen(answer)))
  expect(lookup).not.toHaveBeenCalled()
})
