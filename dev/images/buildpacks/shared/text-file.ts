// Text files of an app as people save them: UTF-8, with or without a byte order mark. Another encoding is named, because every
// program after this one would fail at a place that says nothing about it.
import { BuildFailure } from './build-failure.ts'

const byteOrderMarks: readonly (readonly [string, readonly number[]])[] = [
  ['UTF-16 (little endian)', [0xff, 0xfe]],
  ['UTF-16 (big endian)', [0xfe, 0xff]],
]

/**
 * Without a byte order mark, with line feeds only.
 * @throws BuildFailure that names the file and its encoding
 */
export function decodeText(name: string, bytes: Uint8Array): string {
  const marked = byteOrderMarks.find(([, mark]) => mark.every((byte, index) => bytes[index] === byte))
  if (marked !== undefined) throw new BuildFailure(`${name} is encoded in ${marked[0]}: save it as UTF-8`)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes).replaceAll('\r\n', '\n')
  } catch {
    throw new BuildFailure(`${name} is not encoded in UTF-8 (${firstBadLine(bytes)}): save it as UTF-8`)
  }
}

/** What git writes where it could not merge. */
const conflict = /^(?:<{7}|>{7})(?: |$)/m

/**
 * For files that people write and programs parse, whose parsers say something else of a conflict.
 * @throws BuildFailure with the cure when git left conflicts of a merge in it
 */
export function refuseConflict(name: string, text: string, cure = 'resolve it'): void {
  if (conflict.test(text)) throw new BuildFailure(`${name} has an unresolved merge conflict: ${cure}`)
}

function firstBadLine(bytes: Uint8Array): string {
  const lines = Buffer.from(bytes).toString('latin1').split('\n')
  const index = lines.findIndex(line => {
    const raw = Buffer.from(line, 'latin1')
    return !raw.equals(Buffer.from(raw.toString('utf8')))
  })
  return `line ${index + 1}, perhaps Latin-1 or Windows-1252`
}
