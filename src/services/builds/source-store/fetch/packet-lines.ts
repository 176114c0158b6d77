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
  return `${(Buffer.byteLength(text) + 4).toString(16).padStart(4, '0')}${text}`
}

export const flushPacket = '0000'
export const delimiterPacket = '0001'

const specials: Readonly<Record<number, PacketLine>> = { 0: { kind: 'flush' }, 1: { kind: 'delimiter' }, 2: { kind: 'end' } }

/** A framing that is not of the format. */
export class PacketError extends Error {}

function lengthOf(digits: Buffer): number {
  const text = digits.toString('latin1')
  const length = /^[0-9a-fA-F]{4}$/.test(text) ? Number.parseInt(text, 16) : Number.NaN
  if (!(length <= maxLine) || length === 3) throw new PacketError('the answer is not of git’s protocol')
  return length
}

/** Yields line after line; throws a PacketError for anything else, and when the stream ends within a line. */
export async function* packetLines(stream: AsyncIterable<Uint8Array>): AsyncGenerator<PacketLine> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const piece of stream) {
    rest = rest.length === 0 ? Buffer.from(piece.buffer, piece.byteOffset, piece.length) : Buffer.concat([rest, piece])
    while (rest.length >= 4) {
      const length = lengthOf(rest.subarray(0, 4))
      const special = specials[length]
      if (special === undefined && rest.length < length) break
      yield special ?? { kind: 'data', data: rest.subarray(4, length) }
      rest = rest.subarray(Math.max(4, length))
    }
  }
  if (rest.length > 0) throw new PacketError('the answer ends in the middle of a line')
}
