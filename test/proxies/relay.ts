// A TCP relay: forwards each connection to the target chosen when it opens. Bytes pass unread unless `pass` handles them.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export type RelayTarget = { readonly host: string; readonly port: number }

/** Of one connection: what the client opened, what was opened for it, and the end of both. */
export type Passage = { readonly near: Socket; readonly far: Socket; readonly end: () => void }

export type Relay = {
  readonly port: number
  readonly sockets: () => Iterable<Socket>
  /** Ends every connection. */
  readonly cut: () => void
  readonly close: () => Promise<void>
}

const passAll = ({ near, far }: Passage): void => {
  near.pipe(far)
  far.pipe(near)
}

/**
 * On loopback. Without a target a connection is closed at once. `pass` handles the bytes of one connection; by default they
 * all pass.
 */
export async function startRelay(
  target: () => RelayTarget | undefined,
  { port = 0, pass = passAll }: { readonly port?: number; readonly pass?: (passage: Passage) => void } = {},
): Promise<Relay> {
  const open = new Set<Socket>()
  const server = createServer(near => {
    const chosen = target()
    if (chosen === undefined) return void near.destroy()
    const far = connect(chosen)
    const end = (): void => {
      for (const socket of [near, far]) {
        socket.destroy()
        open.delete(socket)
      }
    }
    for (const socket of [near, far]) {
      open.add(socket)
      socket.setNoDelay()
      socket.on('error', end).on('close', end)
    }
    pass({ near, far, end })
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const cut = (): void => {
    for (const socket of open) socket.destroy()
  }
  return {
    port: (server.address() as AddressInfo).port,
    sockets: () => open,
    cut,
    async close() {
      const closed = new Promise(resolve => server.close(resolve))
      cut()
      await closed
    },
  }
}
