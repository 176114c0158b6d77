// Keeps a few members of a JSON object that arrives in chunks, without keeping or parsing the rest. It protects two bounds of
// test/faults/request-bodies that a whole body of the accepted 25 MB would break: memory, while strangers send several that are
// not verified yet, and the event loop, which `JSON.parse` of 25 MB blocks for 0.04 to 3 s, depending on the contents of a
// commit. It finds where values end by brackets and quotes only (RFC 8259); whoever reads the result parses it. It must never
// throw anything but `invalid_request`, whatever the bytes are.
import { AppError } from '../../lib/errors.ts'

/** `value`: all of it; `shape`: only whether it is an object, a list or something else, as `{}`, `[]` or `null`. */
export type Wanted = ReadonlyMap<string, 'value' | 'shape'>

/** Where in the object the next byte stands. `shape`: before the first byte of a value of which only the shape is wanted. */
type Place = 'before the object' | 'key' | 'colon' | 'shape' | 'value' | 'after the object'

const [quote, backslash, colon, comma] = [0x22, 0x5c, 0x3a, 0x2c]
const [openObject, closeObject, openList, closeList] = [0x7b, 0x7d, 0x5b, 0x5d]
const maxKey = 256

const isSpace = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
const isOpening = (byte: number): boolean => byte === openObject || byte === openList
const isClosing = (byte: number): boolean => byte === closeObject || byte === closeList

const refused = (reason: string): AppError => new AppError('invalid_request', `the body ${reason}`)

export class FieldReader {
  readonly #wanted: Wanted
  readonly #maxBytes: number
  readonly #decoder = new TextDecoder('utf-8', { fatal: true })
  readonly #members: string[] = []
  #place: Place = 'before the object'
  #depth = 0
  #isText = false
  #isEscaped = false
  #key = ''
  /** The parts of the key or value that is being kept. */
  #parts: Uint8Array[] | undefined
  /** Where the part in the present chunk begins. */
  #from = 0
  #bytes = 0
  #failure: unknown

  /** Wanted members of more than `maxBytes` together are refused, however small each is. */
  constructor(wanted: Wanted, maxBytes: number) {
    this.#wanted = wanted
    this.#maxBytes = maxBytes
  }

  /** Never throws: bytes that cannot become an object are reported by `end`. */
  push(chunk: Uint8Array): void {
    if (this.#failure !== undefined) return
    try {
      this.#read(chunk)
    } catch (error) {
      this.#failure = error
    }
  }

  #read(chunk: Uint8Array): void {
    this.#from = 0
    for (let at = 0; at < chunk.length; at += 1) {
      if (this.#isText) at = this.#endOfText(chunk, at)
      else if (this.#depth === 1) this.#inObject(chunk, at)
      else if (this.#depth === 0) this.#outside(chunk[at] ?? 0)
      else this.#inValue(chunk[at] ?? 0)
    }
    this.#keep(chunk, chunk.length)
  }

  /** JSON text of an object with the wanted members, in their order, a repeated one repeated. Throws `invalid_request`. */
  end(): string {
    if (this.#failure !== undefined) throw this.#failure
    if (this.#place !== 'after the object') throw refused('is not a complete JSON object')
    return `{${this.#members.join(',')}}`
  }

  /** The index of the quote that ends the text, or the chunk's length when the text goes on. */
  #endOfText(chunk: Uint8Array, from: number): number {
    for (let at = from; at < chunk.length; at += 1) {
      if (this.#isEscaped) this.#isEscaped = false
      else if (chunk[at] === backslash) this.#isEscaped = true
      else if (chunk[at] === quote) {
        this.#isText = false
        if (this.#depth === 1 && this.#place === 'key') this.#endKey(chunk, at)
        return at
      }
    }
    return chunk.length
  }

  #outside(byte: number): void {
    if (isSpace(byte)) return
    if (byte !== openObject || this.#place !== 'before the object') throw refused('is not a JSON object')
    this.#depth = 1
    this.#place = 'key'
  }

  #inValue(byte: number): void {
    if (byte === quote) this.#isText = true
    else if (isOpening(byte)) this.#depth += 1
    else if (isClosing(byte)) this.#depth -= 1
  }

  #inObject(chunk: Uint8Array, at: number): void {
    const byte = chunk[at] ?? 0
    if (isSpace(byte)) return
    if (this.#place === 'shape') this.#keepShape(byte)
    if (byte === quote) this.#beginText(at)
    else if (isOpening(byte)) this.#depth = 2
    else if (isClosing(byte)) this.#endObject(chunk, at)
    else if (byte === comma) this.#endMember(chunk, at)
    else if (byte === colon && this.#place === 'colon') this.#beginValue(at + 1)
  }

  #beginText(at: number): void {
    this.#isText = true
    if (this.#place === 'key') this.#begin(at + 1)
  }

  #endObject(chunk: Uint8Array, at: number): void {
    if (this.#place === 'value') this.#endMember(chunk, at)
    this.#depth = 0
    this.#place = 'after the object'
  }

  #endKey(chunk: Uint8Array, at: number): void {
    this.#keep(chunk, at)
    const raw = this.#taken()
    this.#bytes -= Buffer.byteLength(raw)
    // None of the wanted keys is written with escapes.
    this.#key = raw.length <= maxKey ? raw : ''
    this.#place = 'colon'
  }

  #beginValue(at: number): void {
    const wanted = this.#wanted.get(this.#key)
    this.#place = wanted === 'shape' ? 'shape' : 'value'
    if (wanted === 'value') this.#begin(at)
  }

  #endMember(chunk: Uint8Array, at: number): void {
    if (this.#place !== 'value') throw refused('is not JSON')
    this.#place = 'key'
    if (this.#parts === undefined) return
    this.#keep(chunk, at)
    this.#addMember(this.#taken())
  }

  #keepShape(firstByte: number): void {
    this.#place = 'value'
    this.#addMember(firstByte === openObject ? '{}' : firstByte === openList ? '[]' : 'null')
  }

  #addMember(value: string): void {
    this.#count(this.#key.length)
    this.#members.push(`${JSON.stringify(this.#key)}:${value}`)
  }

  #begin(at: number): void {
    this.#parts = []
    this.#from = at
  }

  #keep(chunk: Uint8Array, to: number): void {
    if (this.#parts === undefined) return
    this.#count(to - this.#from)
    this.#parts.push(chunk.slice(this.#from, to))
  }

  #taken(): string {
    const bytes = Buffer.concat(this.#parts ?? [])
    this.#parts = undefined
    try {
      return this.#decoder.decode(bytes)
    } catch {
      throw refused('is not UTF-8')
    }
  }

  #count(bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes > this.#maxBytes) throw refused('has values that are too large')
  }
}
