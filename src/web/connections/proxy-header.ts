// Reads the header with which a proxy says whose connection it passes on: PROXY protocol, versions 1 and 2. Pure, and strict:
// what is not exactly such a header is not repaired.
// Source: https://www.haproxy.org/download/3.0/doc/proxy-protocol.txt (§2.1 version 1, §2.2 version 2)
import { isIPv4, isIPv6 } from 'node:net'

/** `length` bytes belong to the header. Without an address the connection is the proxy's own, such as a health check. */
export type ProxyHeader = { readonly length: number; readonly address: string | undefined }

const v1Start = Buffer.from('PROXY ')
/** Including the end of the line. */
const v1Longest = 107
const v2Start = Buffer.from([0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a])
const v2Fixed = 16
/** Addresses and the extensions that load balancers add; the protocol would allow 64 KB. */
const v2Longest = v2Fixed + 2048

/** The header, `more` when `bytes` may be the beginning of one, or `invalid`. */
export function readProxyHeader(bytes: Buffer): ProxyHeader | 'more' | 'invalid' {
  if (isBeginning(bytes, v2Start)) return bytes.length < v2Fixed ? 'more' : readBinary(bytes)
  if (isBeginning(bytes, v1Start)) return readText(bytes)
  return 'invalid'
}

function isBeginning(bytes: Buffer, of: Buffer): boolean {
  const length = Math.min(bytes.length, of.length)
  return bytes.subarray(0, length).equals(of.subarray(0, length))
}

function readText(bytes: Buffer): ProxyHeader | 'more' | 'invalid' {
  const end = bytes.subarray(0, v1Longest).indexOf('\r\n')
  if (end < 0) return bytes.length < v1Longest ? 'more' : 'invalid'
  const length = end + 2
  const [, family, source = '', destination = '', sourcePort = '', destinationPort = '', ...rest] = bytes
    .subarray(0, end)
    .toString('latin1')
    .split(' ')
  if (family === 'UNKNOWN') return { length, address: undefined }
  const isAddress = family === 'TCP4' ? isIPv4 : family === 'TCP6' ? isIPv6 : undefined
  const right =
    isAddress?.(source) && isAddress(destination) && isPort(sourcePort) && isPort(destinationPort) && rest.length === 0
  return right ? { length, address: source } : 'invalid'
}

function isPort(text: string): boolean {
  return /^(0|[1-9]\d{0,4})$/.test(text) && Number(text) <= 65_535
}

const command = { local: 0x20, proxy: 0x21 } as const
const family = { unspecified: 0x00, tcp4: 0x11, tcp6: 0x21 } as const

function readBinary(bytes: Buffer): ProxyHeader | 'more' | 'invalid' {
  const length = v2Fixed + bytes.readUInt16BE(14)
  const [what, from] = [bytes.readUInt8(12), bytes.readUInt8(13)]
  if (length > v2Longest || (what !== command.local && what !== command.proxy)) return 'invalid'
  if (bytes.length < length) return 'more'
  if (what === command.local || from === family.unspecified) return { length, address: undefined }
  const body = bytes.subarray(v2Fixed, length)
  if (from === family.tcp4 && body.length >= 12) return { length, address: [...body.subarray(0, 4)].join('.') }
  if (from === family.tcp6 && body.length >= 36) return { length, address: ipv6(body.subarray(0, 16)) }
  return 'invalid'
}

function ipv6(bytes: Buffer): string {
  return Array.from({ length: 8 }, (_, group) => bytes.readUInt16BE(group * 2).toString(16)).join(':')
}
