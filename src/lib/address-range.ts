// Ranges of IP addresses in CIDR notation: read from text, compared. Pure.
// Source: RFC 4632 (IPv4), RFC 4291 §2.3 (IPv6).
import { BlockList, isIPv4, isIPv6 } from 'node:net'

export type AddressRange = {
  /** As written, for example `10.0.0.0/8`. */
  readonly cidr: string
  readonly family: 'ipv4' | 'ipv6'
  readonly address: string
  readonly prefix: number
}

/**
 * Reads one range. A single address needs its prefix, too (`/32`, `/128`).
 * @throws Error whose message says what is expected: other text, or an address that is not the first of its range
 */
export function addressRange(text: string): AddressRange {
  const match = /^([0-9a-fA-F.:]+)\/([0-9]{1,3})$/.exec(text)
  const address = match?.[1] ?? ''
  const prefix = Number(match?.[2])
  const family = isIPv4(address) ? 'ipv4' : isIPv6(address) ? 'ipv6' : undefined
  if (family === undefined || prefix > bitsOf(family))
    throw new Error(`must consist of ranges such as 10.0.0.0/8 or fd00::/8, not ${text}`)
  const range = { cidr: text, family, address, prefix } as const
  // Clusters warn about other spellings, and later versions refuse them.
  if (prefix < bitsOf(family) && hostBits(range) !== 0n) throw new Error(`must name the first address of each range, not ${text}`)
  return range
}

/** Whether every address of `inner` is in `outer`. */
export function containsRange(outer: AddressRange, inner: AddressRange): boolean {
  if (outer.family !== inner.family || inner.prefix < outer.prefix) return false
  const list = new BlockList()
  list.addSubnet(outer.address, outer.prefix, outer.family)
  return list.check(inner.address, inner.family)
}

function bitsOf(family: AddressRange['family']): number {
  return family === 'ipv4' ? 32 : 128
}

function hostBits({ family, address, prefix }: AddressRange): bigint {
  const number = family === 'ipv4' ? ipv4Number(address) : ipv6Number(address)
  return number & ((1n << BigInt(bitsOf(family) - prefix)) - 1n)
}

function ipv4Number(address: string): bigint {
  return address.split('.').reduce((sum, part) => (sum << 8n) | BigInt(part), 0n)
}

function ipv6Number(address: string): bigint {
  // The URL parser writes every spelling in one form, also those with an IPv4 address at the end.
  const plain = new URL(`http://[${address}]`).hostname.slice(1, -1)
  const [before = '', after] = plain.split('::')
  const groups = (text: string): readonly string[] => (text === '' ? [] : text.split(':'))
  const head = groups(before)
  const tail = groups(after ?? '')
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => '0')
  return [...head, ...zeros, ...tail].reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n)
}
