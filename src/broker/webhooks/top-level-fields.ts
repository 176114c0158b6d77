// Reads a few members of a JSON object that comes in chunks, without keeping or parsing the rest: however large the body, memory holds the
// wanted values only and no single step is long. It finds where values end by brackets and quotes; what it hands out is parsed by whoever
// asked. Source: RFC 8259 (JSON is brackets, quotes and, between quotes, the backslash).
import { AppError } from '../../lib/errors.ts'

/** `value`: all of it; `shape`: only whether it is an object, a list or something else, as `{}`, `[]` or `null`. */
export type Wanted = ReadonlyMap<string, 'value' | 'shape'>

export type FieldReader = {
  readonly push: (chunk: Uint8Array) => void
  /** JSON text of an object with the wanted members, in their order, a repeated one repeated. Throws `invalid_request`. */
  readonly end: () => string
}

const [quote, backslash, colon, comma] = [0x22, 0x5c, 0x3a, 0x2c]
const [openObject, closeObject, openList, closeList] = [0x7b, 0x7d, 0x5b, 0x5d]
const isSpace = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
const longestKey = 256

function refused(problem: string): AppError {
  return new AppError('invalid_request', `the body ${problem}`)
}

/** Wanted members of more than `mostBytes` together are refused, however small each is. */
export function createFieldReader(wanted: Wanted, mostBytes: number): FieldReader {
  const members: string[] = []
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let phase: 'start' | 'key' | 'colon' | 'value' | 'end' = 'start'
  let depth = 0
  let isText = false
  let isEscaped = false
  let key = ''
  /** The parts of the key or the value that is being kept, and where its present part begins in the present chunk. */
  let parts: Uint8Array[] | undefined
  let from = 0
  let bytes = 0

  const counted = (more: number): void => {
    bytes += more
    if (bytes > mostBytes) throw refused('has values that are too large')
  }
  const keep = (chunk: Uint8Array, to: number): void => {
    if (parts === undefined) return
    counted(to - from)
    parts.push(chunk.slice(from, to))
    from = 0
  }
  const taken = (): string => {
    const kept = parts ?? []
    parts = undefined
    try {
      return decoder.decode(Buffer.concat(kept))
    } catch {
      throw refused('is no UTF-8')
    }
  }
  const keyEnds = (chunk: Uint8Array, at: number): void => {
    keep(chunk, at)
    const raw = taken()
    bytes -= Buffer.byteLength(raw)
    // Keys that are written with escapes are none of the wanted ones.
    key = raw.length <= longestKey ? raw : ''
    phase = 'colon'
  }
  const valueBegins = (at: number): void => {
    phase = 'value'
    if (!wanted.has(key)) return
    parts = []
    from = at
  }
  const valueEnds = (chunk: Uint8Array, at: number): void => {
    if (phase !== 'value') throw refused('is no JSON')
    phase = 'key'
    if (!wanted.has(key)) return
    if (parts !== undefined) {
      counted(key.length)
      keep(chunk, at)
      members.push(`${JSON.stringify(key)}:${taken()}`)
    }
  }
  /** At the first byte of a value of which only the shape is wanted. */
  const shape = (byte: number): void => {
    parts = undefined
    counted(key.length)
    members.push(`${JSON.stringify(key)}:${byte === openObject ? '{}' : byte === openList ? '[]' : 'null'}`)
  }

  const structural = (chunk: Uint8Array, at: number, byte: number): void => {
    if (depth === 1 && phase === 'value' && parts !== undefined && wanted.get(key) === 'shape' && !isSpace(byte)) shape(byte)
    switch (byte) {
      case quote:
        isText = true
        if (depth === 1 && phase === 'key') {
          parts = []
          from = at + 1
        }
        return
      case openObject:
      case openList:
        if (depth === 0 && (phase !== 'start' || byte !== openObject)) throw refused('is no JSON object')
        if (depth === 0) phase = 'key'
        depth += 1
        return
      case closeObject:
      case closeList:
        if (depth === 1 && phase === 'value') valueEnds(chunk, at)
        depth -= 1
        if (depth < 0) throw refused('is no JSON')
        if (depth === 0) phase = 'end'
        return
      case colon:
        if (depth === 1 && phase === 'colon') valueBegins(at + 1)
        return
      case comma:
        if (depth === 1) valueEnds(chunk, at)
        return
      default:
        if (depth === 0 && !isSpace(byte)) throw refused('is no JSON object')
    }
  }

  return {
    push(chunk) {
      from = 0
      for (let at = 0; at < chunk.length; at += 1) {
        const byte = chunk[at] ?? 0
        if (!isText) structural(chunk, at, byte)
        else if (isEscaped) isEscaped = false
        else if (byte === backslash) isEscaped = true
        else if (byte === quote) {
          isText = false
          if (depth === 1 && phase === 'key') keyEnds(chunk, at)
        }
      }
      keep(chunk, chunk.length)
    },
    end() {
      if (phase !== 'end') throw refused('is no whole JSON object')
      return `{${members.join(',')}}`
    },
  }
}
