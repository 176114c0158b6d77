import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readProxyHeader } from './proxy-header.ts'

const port = fc.integer({ min: 0, max: 65_535 })
const text = fc.oneof(
  fc
    .tuple(fc.ipV4(), fc.ipV4(), port, port)
    .map(([a, b, p, q]) => ({ address: a, header: `PROXY TCP4 ${a} ${b} ${p} ${q}\r\n` })),
  fc
    .tuple(fc.ipV6(), fc.ipV6(), port, port)
    // The longest addresses that the protocol allows have 39 characters.
    .filter(([a, b]) => a.length <= 39 && b.length <= 39)
    .map(([a, b, p, q]) => ({ address: a, header: `PROXY TCP6 ${a} ${b} ${p} ${q}\r\n` })),
  fc.constantFrom('PROXY UNKNOWN\r\n', 'PROXY UNKNOWN ffff::1 ffff::2 1 2\r\n').map(header => ({ address: undefined, header })),
)
const start = Buffer.from('0d0a0d0a000d0a515549540a', 'hex')
function binary(command: number, family: number, body: Uint8Array): Buffer {
  const head = Buffer.from([command, family, body.length >> 8, body.length & 0xff])
  return Buffer.concat([start, head, body])
}
const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })
const extensions = fc.uint8Array({ maxLength: 60 })
const binaries = fc.oneof(
  fc.tuple(bytes(12), extensions).map(([body, more]) => ({
    address: [...body.subarray(0, 4)].join('.'),
    header: binary(0x21, 0x11, Buffer.concat([body, more])),
  })),
  fc.tuple(bytes(36), extensions).map(([body, more]) => ({
    address: Array.from({ length: 8 }, (_, at) =>
      Buffer.from(body)
        .readUInt16BE(at * 2)
        .toString(16),
    ).join(':'),
    header: binary(0x21, 0x21, Buffer.concat([body, more])),
  })),
  extensions.map(body => ({ address: undefined, header: binary(0x20, 0x00, body) })),
)
const headers = fc.oneof(
  text.map(({ address, header }) => ({ address, header: Buffer.from(header) })),
  binaries,
)

test('every header is read whole, whatever follows it, and asks for more while it is not whole', () => {
  fc.assert(
    fc.property(headers, fc.uint8Array({ maxLength: 40 }), fc.nat(), ({ address, header }, rest, cut) => {
      expect(readProxyHeader(Buffer.concat([header, rest]))).toEqual({ length: header.length, address })
      expect(readProxyHeader(header.subarray(0, cut % header.length))).toBe('more')
    }),
  )
})

test('any bytes are a header, the beginning of one, or refused; never an error', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.uint8Array({ maxLength: 200 }),
        fc.tuple(headers, fc.nat(), fc.nat({ max: 255 })).map(([{ header }, at, value]) => {
          const changed = Buffer.from(header)
          changed[at % changed.length] = value
          return changed
        }),
      ),
      input => {
        const read = readProxyHeader(Buffer.from(input))
        if (typeof read === 'object') expect(read.length).toBeLessThanOrEqual(input.length)
      },
    ),
  )
})

test.each([
  'GET / HTTP/1.1\r\n\r\n',
  'PROXY TCP4 1.2.3.4 5.6.7.8 1\r\n',
  'PROXY TCP4 1.2.3.4 5.6.7.8 1 2 3\r\n',
  'PROXY TCP4 1.2.3.4 5.6.7.8 1 65536\r\n',
  'PROXY TCP4 01.2.3.4 5.6.7.8 1 2\r\n',
  'PROXY TCP4 ::1 ::1 1 2\r\n',
  'PROXY TCP6 1.2.3.4 5.6.7.8 1 2\r\n',
  'PROXY  TCP4 1.2.3.4 5.6.7.8 1 2\r\n',
  'PROXY UDP4 1.2.3.4 5.6.7.8 1 2\r\n',
  `PROXY UNKNOWN ${'x'.repeat(120)}`,
])('%s is refused', header => {
  expect(readProxyHeader(Buffer.from(header))).toBe('invalid')
})

test('binary headers of another version, of datagrams, and of unbounded length are refused', () => {
  expect(readProxyHeader(binary(0x11, 0x11, new Uint8Array(12)))).toBe('invalid')
  expect(readProxyHeader(binary(0x21, 0x12, new Uint8Array(12)))).toBe('invalid')
  expect(readProxyHeader(binary(0x21, 0x11, new Uint8Array(11)))).toBe('invalid')
  expect(readProxyHeader(Buffer.concat([start, Buffer.from([0x21, 0x11, 0xff, 0xff])]))).toBe('invalid')
})
