// Names that say nothing of what they are made from. Pure.
import { createHash } from 'node:crypto'

const alphabet = 'abcdefghijklmnopqrstuvwxyz234567'
const digits = 26

/** The beginning of the SHA-256 of the parts in base32 (RFC 4648, in lower case): 130 bits. */
export function hashedName(parts: readonly string[]): string {
  const bytes = createHash('sha256').update(JSON.stringify(parts)).digest()
  let number = BigInt(`0x${bytes.toString('hex')}`)
  let text = ''
  for (let digit = 0; digit < digits; digit++) {
    text += alphabet[Number(number & 31n)]
    number >>= 5n
  }
  return text
}
