// Finding the process that listens on a port, for a port of this test.
import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { listenersIn, portHolder } from './port-holder.ts'

test('names the process that listens, and its folder', async () => {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  try {
    expect(await portHolder(address.port)).toEqual({
      process: { pid: process.pid, executable: process.execPath, folder: process.cwd() },
    })
  } finally {
    await new Promise(resolve => server.close(resolve))
  }
  expect(await portHolder(address.port)).toBeUndefined()
})

test('a connection from or to the port is not a listener', () => {
  const line = (state: string, inode: string) =>
    `   0: 0100007F:305B 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000     0        0 ${inode} 1 0 100 0 0 10 0`
  const table = ['  sl  local_address rem_address   st', line('0A', '77'), line('01', '78')].join('\n')
  expect(listenersIn(table, 12_379)).toEqual(['77'])
  expect(listenersIn(table, 12_380)).toEqual([])
})
