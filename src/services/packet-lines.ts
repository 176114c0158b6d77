// Reads and writes pkt-lines, the framing of git's protocols. Every line is bounded by the format itself (four hex digits of
// length), so what is held in memory is one line and one piece of the stream.
// Source: https://git-scm.com/docs/gitprotocol-common#_pkt_line_format ,
// https://git-scm.com/docs/gitprotocol-v2#_packet_line_framing
export type PacketLine =
  | { readonly kind: 'data'; readonly data: Buffer }
  /** 0000, 0001 and 0002. */
  | { readonly kind: 'flush' | 'delimiter' | 'end' }

/** Four digits and 65,516 bytes. */
const maxLine = 65_520

/** One line with its length, itself included. */
export function packetLine(text: string): string {
  return `${packetLength(Buffer.byteLength(text))}${text}`
}

/** As `packetLine`, of bytes. */
export function packetBytes(data: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(packetLength(data.length)), data])
}

function packetLength(content: number): string {
  return (content + 4).toString(16).padStart(4, '0')
}

export const flushPacket = '0000'
export const delimiterPacket = '0001'

const specials: Readonly<Record<number, PacketLine>> = { 0: { kind: 'flush' }, 1: { kind: 'delimiter' }, 2: { kind: 'end' } }

/** A framing that is not of the format. */
export class PacketError extends Error {}

function lengthOf(digits: Buffer): number {
  const text = digits.toString('latin1')
  const length = /^[0-9a-fA-F]{4}$/.test(text) ? Number.parseInt(text, 16) : Number.NaN
  if (!(length <= maxLine) || length === 3) throw new PacketError('the bytes are not of git’s protocol')
  return length
}

/** Takes lines out of pieces as they come. Holds at most one line that is not whole, and the piece that it came with. */
export type PacketSplitter = {
  /** Adds a piece. */
  readonly push: (piece: Uint8Array) => void
  /** The next whole line; undefined until there is one. @throws PacketError for anything else */
  readonly next: () => PacketLine | undefined
  /** What was added and is in no line that was taken. */
  readonly rest: () => Buffer
}

/** With nothing added. */
export function createPacketSplitter(): PacketSplitter {
  let rest: Buffer = Buffer.alloc(0)
  return {
    push(piece) {
      rest = rest.length === 0 ? Buffer.from(piece.buffer, piece.byteOffset, piece.length) : Buffer.concat([rest, piece])
    },
    next() {
      if (rest.length < 4) return undefined
      const length = lengthOf(rest.subarray(0, 4))
      const special = specials[length]
      if (special === undefined && rest.length < length) return undefined
      const line: PacketLine = special ?? { kind: 'data', data: rest.subarray(4, length) }
      rest = rest.subarray(Math.max(4, length))
      return line
    },
    rest: () => rest,
  }
}

/** Yields line after line; throws a PacketError for anything else, and when the stream ends within a line. */
export async function* packetLines(stream: AsyncIterable<Uint8Array>): AsyncGenerator<PacketLine> {
  const splitter = createPacketSplitter()
  for await (const piece of stream) {
    splitter.push(piece)
    for (let line = splitter.next(); line !== undefined; line = splitter.next()) yield line
  }
  if (splitter.rest().length > 0) throw new PacketError('the bytes end in the middle of a line')
}
