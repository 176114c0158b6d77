import { expect, test } from 'vitest'
import { descendants, parentOfStat, parseSmaps } from './process-memory.ts'

const mapping = (line: string, kilobytes: { size: number; rss: number; pss: number; anonymous: number }): string =>
  [
    line,
    `Size:           ${String(kilobytes.size).padStart(8)} kB`,
    'KernelPageSize:        4 kB',
    `Rss:            ${String(kilobytes.rss).padStart(8)} kB`,
    `Pss:            ${String(kilobytes.pss).padStart(8)} kB`,
    `Anonymous:      ${String(kilobytes.anonymous).padStart(8)} kB`,
    'VmFlags: rd mr mw me ac',
  ].join('\n')

test('memory is added up, and the mappings of one file are one', () => {
  const text = [
    mapping('00400000-01000000 r--p 00000000 fe:00 1234   /usr/local/bin/node', {
      size: 12_288,
      rss: 8192,
      pss: 4096,
      anonymous: 0,
    }),
    mapping('01000000-02000000 r-xp 00c00000 fe:00 1234   /usr/local/bin/node', {
      size: 16_384,
      rss: 1024,
      pss: 512,
      anonymous: 0,
    }),
    mapping('3f000000-3f040000 rw-p 00000000 00:00 0 ', { size: 256, rss: 256, pss: 256, anonymous: 256 }),
    mapping('7f0000000000-7f0008000000 rw-p 00000000 00:00 0 ', { size: 131_072, rss: 2048, pss: 2048, anonymous: 2048 }),
  ].join('\n')
  const kilobyte = 1024
  expect(parseSmaps(text)).toEqual({
    residentBytes: 11_520 * kilobyte,
    proportionalBytes: 6912 * kilobyte,
    anonymousBytes: 2304 * kilobyte,
    mappings: [
      { name: 'node', residentBytes: 9216 * kilobyte, sizeBytes: 28_672 * kilobyte },
      { name: 'anonymous, 128 MB', residentBytes: 2048 * kilobyte, sizeBytes: 131_072 * kilobyte },
      { name: 'anonymous, up to 1 MB each', residentBytes: 256 * kilobyte, sizeBytes: 256 * kilobyte },
    ],
  })
})

test('children are found by their parents, whatever their names', () => {
  expect(parentOfStat('7 (a ) b (c) S 3 7 7 0 -1')).toBe(3)
  expect(
    descendants(
      1,
      new Map([
        [2, 1],
        [3, 2],
        [4, 9],
      ]),
    ),
  ).toEqual([2, 3])
})
