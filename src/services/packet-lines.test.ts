// The framing of git's protocols: whatever pieces a stream comes in, the same lines come out, and nothing else is taken.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  createPacketSplitter,
  flushPacket,
  PacketError,
  type PacketLine,
  packetBytes,
  packetLine,
  packetLines,
} from './packet-lines.ts'

async function* inPieces(bytes: Uint8Array, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  const places = [...new Set(cuts.map(cut => cut % (bytes.length + 1)))].sort((a, b) => a - b)
  let from = 0
  for (const to of [...places, bytes.length]) {
    yield bytes.subarray(from, to)
    from = to
  }
}

async function collect(stream: AsyncIterable<PacketLine>): Promise<readonly string[]> {
  const found: string[] = []
  for await (const line of stream) found.push(line.kind === 'data' ? `data ${line.data.toString('hex')}` : line.kind)
  return found
}

describe('pkt-lines', () => {
  test('are the same in whatever pieces they come', async () => {
    const content = fc.oneof(fc.constant(undefined), fc.uint8Array({ maxLength: 300 }))
    await fc.assert(
      fc.asyncProperty(fc.array(content, { maxLength: 30 }), fc.array(fc.nat(), { maxLength: 20 }), async (lines, cuts) => {
        const bytes = Buffer.concat(lines.map(line => (line === undefined ? Buffer.from(flushPacket) : packetBytes(line))))
        const wanted = lines.map(line => (line === undefined ? 'flush' : `data ${Buffer.from(line).toString('hex')}`))
        expect(await collect(packetLines(inPieces(bytes, cuts)))).toEqual(wanted)
      }),
    )
  })

  test('what is not one is an error or waits, and never a line that was not sent', async () => {
    await fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), bytes => {
        const splitter = createPacketSplitter()
        splitter.push(bytes)
        let taken = 0
        try {
          for (let line = splitter.next(); line !== undefined; line = splitter.next())
            taken += line.kind === 'data' ? line.data.length + 4 : 4
        } catch (error) {
          expect(error).toBeInstanceOf(PacketError)
        }
        expect(taken + splitter.rest().length).toBe(bytes.length)
      }),
    )
  })

  test.each(['0003', 'zzzz', 'fff1', '-001', '+004', ' 004', '0x04'])('a length of %j is refused', async length => {
    await expect(collect(packetLines(inPieces(Buffer.from(`${length}abc`), [])))).rejects.toBeInstanceOf(PacketError)
  })

  test('a stream that ends within a line is refused', async () => {
    const bytes = Buffer.from(packetLine('hello\n')).subarray(0, -1)
    await expect(collect(packetLines(inPieces(bytes, [3])))).rejects.toBeInstanceOf(PacketError)
  })
})
