import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createMessageFramer } from './wire-framing.ts'

function message(type: string, body: Uint8Array): Buffer {
  const head = Buffer.alloc(5)
  head.write(type, 0, 'latin1')
  head.writeInt32BE(4 + body.length, 1)
  return Buffer.concat([head, body])
}

function startup(): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeInt32BE(8, 0)
  bytes.writeInt32BE(196_608, 4)
  return bytes
}

function framed(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const framer = createMessageFramer()
  const points = [0, ...[...cuts].map(cut => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]
  return points.slice(1).flatMap((end, index) => framer.push(bytes.subarray(points[index], end)).map(batch => Buffer.from(batch)))
}

describe('framing the protocol for the embedded database', () => {
  const extendedQuery = ['P', 'B', 'D', 'E', 'S'].map(type => message(type, Buffer.from('body')))
  const stream = Buffer.concat([
    startup(),
    message('Q', Buffer.from('select 1\0')),
    ...extendedQuery,
    message('X', Buffer.alloc(0)),
  ])

  test('returns whole batches: the start-up message, a query, an extended query up to its Sync, the end', () => {
    expect(framed(stream, []).map(batch => batch.length)).toEqual([
      8,
      message('Q', Buffer.from('select 1\0')).length,
      Buffer.concat(extendedQuery).length,
      5,
    ])
  })

  test('returns the same batches however the bytes are cut', () => {
    const whole = framed(stream, [])
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 20 }), cuts => {
        expect(framed(stream, cuts)).toEqual(whole)
      }),
    )
  })

  test('copies an incomplete message, so that the buffer it arrived in can be reused', () => {
    const framer = createMessageFramer()
    const query = message('Q', Buffer.from('select 1\0'))
    const first = Buffer.concat([startup(), query.subarray(0, 7)])
    expect(framer.push(first)).toHaveLength(1)
    first.fill(0)
    expect(framer.push(query.subarray(7)).map(batch => Buffer.from(batch))).toEqual([query])
  })

  test.each([0, 3, -1, 2 ** 31 - 1])('refuses a message that claims a length of %d bytes', length => {
    const framer = createMessageFramer()
    framer.push(startup())
    const bytes = message('Q', Buffer.alloc(0))
    bytes.writeInt32BE(length, 1)
    expect(() => framer.push(bytes)).toThrow(RangeError)
  })
})
