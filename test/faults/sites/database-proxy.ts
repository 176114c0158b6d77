// A line to a database server that can be cut, held or broken at any of the messages that pass. It forwards bytes and reads none of them.

import type { AddressInfo } from 'node:net'
import { connect, createServer, type Socket } from 'node:net'
import { SecretString } from '../../../src/lib/secret-string.ts'

export type DatabaseProxy = {
  /** The same database, through the proxy. */
  readonly url: SecretString
  /** Existing connections end and new ones are refused, or everything is well again. */
  readonly refuse: (refuse: boolean) => void
  /** Nothing passes in either direction; what came meanwhile passes when it is let go. */
  readonly hold: (hold: boolean) => void
  /** Cuts the connection at the so many-th message from us: before it is passed on, or right after, so that its answer is lost. */
  readonly cutAt: (message: number, when: 'before' | 'after') => void
  /** Takes back a cut that nothing reached; true when one was made. */
  readonly wasCut: () => boolean
  readonly stop: () => Promise<void>
}

export async function startDatabaseProxy(behind: SecretString): Promise<DatabaseProxy> {
  const target = new URL(behind.reveal())
  const open = new Set<Socket>()
  let refusing = false
  let holding = false
  let cut: { message: number; readonly when: 'before' | 'after' } | undefined
  let done = false
  const server = createServer(near => {
    if (refusing) return void near.destroy()
    const far = connect({ host: target.hostname, port: Number(target.port) })
    const end = (): void => {
      for (const socket of [near, far]) {
        socket.destroy()
        open.delete(socket)
      }
    }
    for (const socket of [near, far]) {
      open.add(socket)
      socket.on('error', end).on('close', end)
      if (holding) socket.pause()
    }
    near.on('data', (bytes: Buffer) => {
      if (cut !== undefined) cut.message -= 1
      if (cut === undefined || cut.message > 0) return void far.write(bytes)
      const { when } = cut
      cut = undefined
      done = true
      if (when === 'before') return end()
      // Its answer is not wanted: only that the server has it.
      far.removeAllListeners('data')
      far.write(bytes, () => setImmediate(end))
    })
    far.on('data', (bytes: Buffer) => void near.write(bytes))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = new URL(target)
  url.port = String((server.address() as AddressInfo).port)
  url.hostname = '127.0.0.1'
  return {
    url: new SecretString(url.href),
    refuse(next) {
      refusing = next
      if (next) for (const socket of open) socket.destroy()
    },
    hold(next) {
      holding = next
      for (const socket of open) next ? socket.pause() : socket.resume()
    },
    cutAt(message, when) {
      cut = { message, when }
      done = false
    },
    wasCut() {
      cut = undefined
      return done
    },
    async stop() {
      for (const socket of open) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
