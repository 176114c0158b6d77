import { Readable } from 'node:stream'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { completeLines, lineBatches, readAtMost } from './byte-stream.ts'

async function* inPieces(bytes: Buffer, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  let from = 0
  for (const cut of [...cuts].sort((a, b) => a - b)) {
    const to = Math.max(from, Math.min(cut, bytes.length))
    yield bytes.subarray(from, to)
    from = to
  }
  yield bytes.subarray(from)
}

async function collect(lines: AsyncIterable<string>): Promise<string[]> {
  const all: string[] = []
  for await (const line of lines) all.push(line)
  return all
}

test('lines are complete wherever the stream is split, and text after the last newline is dropped', async () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 20 }).map(line => line.replaceAll(/\s/g, ''))
  await fc.assert(
    fc.asyncProperty(fc.array(text), text, fc.array(fc.nat(200)), async (lines, rest, cuts) => {
      const bytes = Buffer.from(`${lines.map(line => `${line}\n`).join('')}${rest}`)
      const read = await collect(completeLines(1000, inPieces(bytes, cuts)))
      expect(read).toEqual(lines.filter(line => line !== ''))
    }),
  )
})

test('lines that come together are one batch, and no batch is empty', async () => {
  const bytes = Buffer.from('a\nb\n\nc\nd')
  const batches: (readonly string[])[] = []
  for await (const lines of lineBatches(10, inPieces(bytes, [3, 5, 6]))) batches.push(lines)
  expect(batches).toEqual([['a'], ['b'], ['c']])
  for await (const lines of lineBatches(10, inPieces(bytes, []))) expect(lines).toEqual(['a', 'b', 'c'])
})

test('a line without an end is an error at the limit', async () => {
  const endless = async function* (): AsyncGenerator<Uint8Array> {
    for (;;) yield Buffer.alloc(100, 'x')
  }
  await expect(collect(completeLines(1000, endless()))).rejects.toThrow(RangeError)
})

test('a reader that stops closes the stream', async () => {
  const stream = Readable.from([Buffer.from('a\nb\n'), Buffer.from('c\n')])
  for await (const line of completeLines(10, stream)) if (line === 'a') break
  expect(stream.destroyed).toBe(true)
})

test('a stream is read up to the limit, and closed as soon as it is longer', async () => {
  const read = (limit: number) => readAtMost(limit, inPieces(Buffer.from('abcdef'), [2, 4]))
  expect((await read(6))?.toString()).toBe('abcdef')
  expect(await read(5)).toBeUndefined()
  const stream = Readable.from([Buffer.alloc(8), Buffer.alloc(8)])
  expect(await readAtMost(8, stream)).toBeUndefined()
  expect(stream.destroyed).toBe(true)
})
