// Names that are derived from others and must fit a limit of Kubernetes or the DNS.
import { createHash } from 'node:crypto'

export type NameHash = {
  /** What tells two names apart that begin alike; by default the text itself. */
  readonly of?: string
  /** In hexadecimal digits, by default 12. */
  readonly length?: number
}

/** The first digits of the SHA-256 of a text, in hexadecimal. */
export function shortHash(text: string, length = 12): string {
  return createHash('sha256').update(text).digest('hex').slice(0, length)
}

/** The text, or its beginning with a hyphen and a hash when it has more than `max` characters. */
export function boundedName(text: string, max: number, hash: NameHash = {}): string {
  return text.length <= max ? text : hashedName(text, max, hash)
}

/** As much of the text as fits into `max` characters with a hyphen and a hash. */
export function hashedName(text: string, max: number, { of = text, length = 12 }: NameHash = {}): string {
  return `${text.slice(0, max - length - 1).replace(/-+$/, '')}-${shortHash(of, length)}`
}
