// What is kept of the text of a log: lines of any length, times of any zone, no secret, no control sequence, and the parts that
// a person needs.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ChunkExtent } from '../../../store/builds/build-logs.ts'
import { createCleanText } from './clean-text.ts'
import { chunksToDrop } from './kept-chunks.ts'
import { createLineSplitter, parseLine } from './lines.ts'
import { advanced, type ReadPosition, resumption, sinceOf } from './position.ts'

describe('lines', () => {
  test('are the same however the bytes are cut', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'grapheme', maxLength: 40 })),
        fc.array(fc.integer({ min: 1, max: 30 })),
        (texts, cuts) => {
          const lines = texts.map(text => text.replaceAll('\n', ' ').toWellFormed())
          let rest = Buffer.from(lines.map(line => `${line}\n`).join(''))
          const splitter = createLineSplitter()
          const found: string[] = []
          for (let turn = 0; rest.length > 0; turn++) {
            const size = cuts[turn % Math.max(1, cuts.length)] ?? 7
            found.push(...splitter.push(rest.subarray(0, size)))
            rest = rest.subarray(size)
          }
          expect(found).toEqual(lines)
          expect(splitter.rest()).toBeUndefined()
        },
      ),
    )
  })

  test('that are very long keep their beginning and their end, in bounded memory', () => {
    const splitter = createLineSplitter()
    splitter.push(Buffer.from('2026-01-01T00:00:00.000000001Z first'))
    for (let part = 0; part < 1000; part++) splitter.push(Buffer.alloc(10_000, 'x'))
    const [line = ''] = splitter.push(Buffer.from('last\n'))
    expect(line.length).toBeLessThan(25_000)
    expect(line).toMatch(/^2026\S+ firstx+ \[\d+ characters of this line are left out\] x+last$/)
  })

  test('have their time in UTC, whatever the node writes', () => {
    expect(parseLine('2026-01-01T01:30:00.5+01:00 a  b')).toEqual({
      time: { second: '2026-01-01T00:30:00Z', exact: '2026-01-01T00:30:00.500000000' },
      text: 'a  b',
    })
    expect(parseLine('unable to retrieve container logs').time).toBeUndefined()
  })
})

/** What the kubelet sends when it is asked from a second on: lines in the order of the file, older ones left out. */
const since = (times: readonly string[], second: string | undefined) =>
  times.filter(time => second === undefined || time.slice(0, 19) >= second.slice(0, 19))

test('reading on from any place brings every line once, also when two streams of the container wrote out of order', () => {
  const seconds = fc.integer({ min: 0, max: 3 })
  const times = fc.array(fc.tuple(seconds, fc.integer({ min: 0, max: 3 })), { maxLength: 40 })
  fc.assert(
    fc.property(times, fc.array(fc.nat(10), { maxLength: 10 }), (pairs, stops) => {
      // A line is at most a second older than one before it.
      let newest = 0
      const all = pairs.map(([second, nano]) => {
        newest = Math.max(newest, second)
        return `2026-01-01T00:00:0${Math.max(second, newest - 1)}.00000000${nano}`
      })
      let position: ReadPosition | undefined
      const read: string[] = []
      for (const stop of [...stops, all.length]) {
        const again = resumption(position)
        let taken = 0
        for (const exact of since(all, position && sinceOf(position))) {
          if (taken >= stop) break
          const time = { second: `${exact.slice(0, 19)}Z`, exact }
          if (again.isKnown(time)) continue
          read.push(exact)
          position = advanced(position, time)
          taken += 1
        }
      }
      expect(read).toEqual(all)
    }),
  )
})

test('a log whose part was dropped by the node is noticed', () => {
  const time = (exact: string) => ({ second: `${exact.slice(0, 19)}Z`, exact })
  const position = advanced(undefined, time('2026-01-01T00:00:01.000000000'))
  const again = resumption(position)
  expect(again.isKnown(time('2026-01-01T00:00:09.000000000'))).toBe(false)
  expect(again.hasGap()).toBe(true)
})

describe('a text that is kept', () => {
  const clean = createCleanText(['s3cret value', 'line-one-of-key\nline-two-of-key', 'abc'])

  test.each([
    ['a value', 'PASSWORD=s3cret value!', 'PASSWORD=[redacted]!'],
    ['a line of a value', 'x line-two-of-key y', 'x [redacted] y'],
    ['a value in base64', `auth ${Buffer.from('s3cret value').toString('base64')}`, 'auth [redacted]'],
    ['a value in an address', 'http://h/?q=s3cret%20value', 'http://h/?q=[redacted]'],
    ['a value with a control sequence in it', 's3cr\u001b[31met value', '[redacted]'],
    ['a token of GitHub', `git clone https://x:ghs_${'a'.repeat(36)}@h`, 'git clone https://x:[redacted]@h'],
    ['a value too short to be told from words', 'abcabc', 'abcabc'],
    ['colours', '\u001b[1;32mok\u001b[0m', 'ok'],
    ['a title of the terminal', '\u001b]0;evil\u0007text', 'text'],
    ['an unfinished sequence', '\u001b]52;c;ZXZpbA==', ''],
    ['progress on one line', '10%\r20%\r\ndone', '10%\n20%\ndone'],
    ['a change of direction', 'a\u202eb', 'ab'],
    ['8-bit control characters', 'a\u009b31mb', 'a31mb'],
    ['plain text', 'tab\there — ünïcode\n', 'tab\there — ünïcode\n'],
  ])('has no %s', (_what, text, kept) => {
    expect(clean(text)).toBe(kept)
  })
})

describe('what is dropped of a log that is too long', () => {
  const chunks = (...steps: readonly (readonly [string, number])[]): ChunkExtent[] => {
    let at = 0
    return steps.flatMap(([step, count], index) =>
      Array.from({ length: count }, (_, part) => {
        const firstByte = at
        at += 60_000
        return { sequence: index * 1000 + part, step, firstByte, endByte: at, size: 1 }
      }),
    )
  }

  test('is the oldest of its middle: never its beginning, its end, or the end of a step', () => {
    const limits = { most: 600_000, beginning: 120_000 }
    expect(chunksToDrop(chunks(['build', 10]), limits)).toEqual([])
    expect(chunksToDrop(chunks(['build', 12]), limits)).toEqual([2, 3])
    const all = chunks(['prepare', 4], ['build', 20], ['export', 30])
    const kept = all.filter(({ sequence }) => !chunksToDrop(all, limits).includes(sequence))
    // The beginning, two chunks of the end of each step, and of the last step what is newest.
    expect(kept.map(({ sequence }) => sequence)).toEqual([0, 1, 2, 3, 1018, 1019, 2026, 2027, 2028, 2029])
  })
})
