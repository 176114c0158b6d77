// The proxy's port and its connections: it can stop listening, reset new connections, let all existing ones go silent, and
// listen on the same port again. Independent of HTTP.
import type { Server } from 'node:http'
import type { Socket } from 'node:net'

export type OutageKind =
  /** Nothing listens: connections are refused. */
  | 'refuse'
  /** Every connection is reset as soon as it is accepted. */
  | 'reset'

export type Listener = {
  readonly port: () => number
  /** Ends all connections and accepts none until `up`. */
  readonly down: (kind: OutageKind) => Promise<void>
  readonly up: () => Promise<void>
  /** Existing connections stay open and carry nothing more in either direction. New ones work. */
  readonly deaden: (socket?: Socket) => void
  /** Closes all connections. */
  readonly cut: () => void
  readonly isDead: (socket: Socket) => boolean
  /** Number of open connections, without dead ones. */
  readonly open: () => number
  readonly close: () => Promise<void>
}

export async function createListener(server: Server): Promise<Listener> {
  const sockets = new Set<Socket>()
  const dead = new WeakSet<Socket>()
  let resets = false
  let port = 0

  server.on('connection', (socket: Socket) => {
    if (resets) return void socket.resetAndDestroy()
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    // Resets by the peer are expected here.
    socket.on('error', () => socket.destroy())
  })

  const listen = (): Promise<void> =>
    new Promise((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, '127.0.0.1', () => {
        server.off('error', reject)
        const address = server.address()
        if (address === null || typeof address === 'string') return reject(new Error('the proxy has no port'))
        port = address.port
        resolve()
      })
    })
  const stopListening = (): Promise<void> => new Promise(resolve => server.close(() => resolve()))
  const resetAll = (): void => {
    for (const socket of sockets) socket.resetAndDestroy()
  }
  const deaden = (socket?: Socket): void => {
    for (const each of socket === undefined ? sockets : [socket]) {
      dead.add(each)
      each.pause()
    }
  }

  await listen()
  return {
    port: () => port,
    async down(kind) {
      resets = kind === 'reset'
      const stopped = kind === 'refuse' && server.listening ? stopListening() : undefined
      resetAll()
      await stopped
    },
    async up() {
      resets = false
      if (!server.listening) await listen()
    },
    deaden,
    cut() {
      for (const socket of sockets) socket.destroy()
    },
    isDead: socket => dead.has(socket),
    open: () => [...sockets].filter(socket => !dead.has(socket)).length,
    async close() {
      const stopped = server.listening ? stopListening() : undefined
      resetAll()
      await stopped
    },
  }
}
