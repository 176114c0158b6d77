// Who sent a request, as far as limits and records are concerned: a person or client that proved itself, else an address. The
// address is that of the connection; only a proxy on the list of trusted addresses may name another one.
import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'

/**
 * The address of the client: what the last trusted proxy saw, or the other end of the connection. Always an address, never free
 * text.
 */
export function clientAddress(request: FastifyRequest): string {
  if (isIP(request.ip) !== 0) return request.ip
  return request.socket.remoteAddress ?? 'unknown'
}

/** An IPv6 network of 64 bits belongs to one household or machine (RFC 6177), so one address of it is worth no more than all. */
export function addressKey(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)
  if (mapped?.[1] !== undefined) return mapped[1]
  return isIP(address) === 6 ? networkOf(address) : address
}

function networkOf(address: string): string {
  const [head = '', tail] = (address.split('%')[0] ?? '').split('::')
  const first = head === '' ? [] : head.split(':')
  const last = tail === undefined || tail === '' ? [] : tail.split(':')
  // A dotted end stands for two groups.
  const groups = first.length + last.length + (address.includes('.') ? 1 : 0)
  const zeros = tail === undefined ? [] : Array.from({ length: 8 - groups }, () => '0')
  return `${[...first, ...zeros, ...last]
    .slice(0, 4)
    .map(group => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}

/**
 * Returns a key for a client that has proved who it is, such as a person's subject; undefined for everybody else. Must be
 * cheap.
 */
export type ProvenClient = (request: FastifyRequest) => string | undefined | Promise<string | undefined>

const provenPrefix = 'client '

/** The key under which a request is counted: the proven client's own, or the one of its address. */
export async function clientKey(request: FastifyRequest, proven: ProvenClient | undefined): Promise<string> {
  const client = await proven?.(request)
  return client === undefined ? `address ${addressKey(clientAddress(request))}` : `${provenPrefix}${client}`
}

/** Whether the key belongs to a client that proved who it is. */
export function isProven(key: string): boolean {
  return key.startsWith(provenPrefix)
}
