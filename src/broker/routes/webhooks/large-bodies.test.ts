import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { createLargeBodies } from './large-bodies.ts'

async function readAll(chunks: AsyncIterable<Buffer>): Promise<number> {
  let bytes = 0
  for await (const chunk of chunks) bytes += chunk.length
  return bytes
}

test('of too many large bodies the slowest is ended, never the one that arrives at full speed', async () => {
  let now = 0
  const large = createLargeBodies({ most: 3, now: () => now })
  const slow = Array.from({ length: 3 }, () => new PassThrough())
  const ends = slow.map(body => readAll(large.admit(body)).catch((error: unknown) => error))
  await new Promise(setImmediate)
  now = 5000
  slow[0]?.write(Buffer.alloc(100_000))
  slow[2]?.write(Buffer.alloc(200_000))
  await new Promise(setImmediate)
  const quick = new PassThrough()
  const whole = readAll(large.admit(quick))
  await new Promise(setImmediate)
  expect(slow.map(({ destroyed }) => destroyed)).toEqual([false, true, false])
  expect(await ends[1]).toMatchObject({ code: 'unavailable' })
  now = 5200
  quick.write(Buffer.alloc(5_000_000))
  const more = new PassThrough()
  const late = readAll(large.admit(more))
  await new Promise(setImmediate)
  expect(slow.map(({ destroyed }) => destroyed)).toEqual([true, true, false])
  quick.end()
  more.end()
  slow[2]?.end()
  expect(await whole).toBe(5_000_000)
  expect(await late).toBe(0)
  expect(await ends[2]).toBe(200_000)
  expect(large.count()).toBe(0)
})
