// Stands before a server's own handling of connections: reads the header of the PROXY protocol where it is required, says who
// the client is, and bounds how many connections there are. It reads nothing of what clients send.
import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http'
import type { Server as HttpsServer } from 'node:https'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { AddressList } from '../clients/address-list.ts'
import { addressKey } from '../clients/client-key.ts'
import { type Connection, createConnectionTable } from './connection-table.ts'
import { readProxyHeader } from './proxy-header.ts'

export type ConnectionGuard = {
  /** The number of connections. */
  readonly size: () => number
  /** Ends connections that never sent a request: nothing of theirs is lost when the server closes. */
  readonly endSilent: () => void
}

export type ConnectionOptions = {
  /** Default 2048. */
  readonly most?: number
  /** Of one address (of one network of 64 bits for IPv6). Default 1024, because many people may share an address. */
  readonly maxOfClient?: number
  /**
   * The proxies of which every connection must be, and must begin with a header of the PROXY protocol. Absent: no such header
   * is read.
   */
  readonly proxies?: AddressList
}

const headerMilliseconds = 5000

// Memory (TLS handshakes): other end of a connection → the connection and its client
//   life: until the handshake or the connection ends
//   bound: those of the table of connections
//   freshness: the end of the handshake or connection
//   replicas: each has its own
/** Call before the server listens, after all listeners of its event `connection` were added. */
export function guardConnections(server: HttpServer | HttpsServer, options: ConnectionOptions): ConnectionGuard {
  const { most = 2048, maxOfClient = 1024, proxies } = options
  const table = createConnectionTable({ most, maxOfClient })
  /** By the socket that requests name. */
  const known = new WeakMap<object, Connection>()
  /** Of TLS connections during their handshake, by the other end. */
  const shaking = new Map<string, { readonly connection: Connection; readonly client: string }>()
  const serve = server.listeners('connection') as ((this: unknown, socket: Socket) => void)[]
  const isTls = 'setSecureContext' in server

  const accept = (socket: Socket, client: string): void => {
    const connection = table.add(addressKey(client), () => socket.destroy())
    if (connection === undefined) return void socket.destroy()
    const peer = peerOf(socket)
    socket.once('close', () => {
      table.remove(connection)
      shaking.delete(peer)
    })
    if (isTls) shaking.set(peer, { connection, client })
    else {
      known.set(socket, connection)
      sayAddress(socket, client)
    }
    for (const listener of serve) listener.call(server, socket)
  }

  server.removeAllListeners('connection')
  // A server of another kind of connection has no limit of its own; those that send no header yet are in none of the table's
  // bounds.
  server.maxConnections = most * 2
  server.on('connection', (socket: Socket) => {
    const peer = socket.remoteAddress
    if (peer === undefined) return void socket.destroy()
    if (proxies === undefined) return accept(socket, peer)
    if (!proxies.contains(peer)) return void socket.destroy()
    afterHeader(socket, client => accept(socket, client ?? peer))
  })
  server.on('secureConnection', (socket: TLSSocket) => {
    const peer = peerOf(socket)
    const found = shaking.get(peer)
    if (found === undefined) return
    shaking.delete(peer)
    known.set(socket, found.connection)
    sayAddress(socket, found.client)
  })
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const connection = known.get(request.socket)
    if (connection === undefined) return
    table.begin(connection, request)
    response.once('close', () => table.answered(connection))
  })
  return {
    size: table.size,
    endSilent() {
      for (const { end } of table.silent()) end()
    },
  }
}

/** A socket and the TLS connection over it have the same. */
function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}

function sayAddress(socket: Socket, address: string): void {
  if (socket.remoteAddress !== address) Object.defineProperty(socket, 'remoteAddress', { value: address })
}

/** Reads the header and puts back what follows it. A connection without a whole header in time is ended. */
function afterHeader(socket: Socket, next: (client: string | undefined) => void): void {
  const end = (): void => void socket.destroy()
  const timer = setTimeout(end, headerMilliseconds)
  let bytes = Buffer.alloc(0)
  const read = (): void => {
    for (let chunk: Buffer | null = socket.read(); chunk !== null; chunk = socket.read()) bytes = Buffer.concat([bytes, chunk])
    const header = readProxyHeader(bytes)
    if (header === 'more') return
    if (header === 'invalid') {
      end()
      return
    }
    finish()
    if (bytes.length > header.length) socket.unshift(bytes.subarray(header.length))
    next(header.address)
  }
  const finish = (): void => {
    clearTimeout(timer)
    socket.off('readable', read)
    socket.off('error', end)
    socket.off('end', end)
  }
  socket.on('readable', read)
  socket.once('error', end)
  socket.once('end', end)
  socket.once('close', () => clearTimeout(timer))
}
