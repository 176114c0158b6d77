// An object that was not there before is named with the files that ran when it was made.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { leftBehindLines, timesOfFiles } from './left-behind.ts'
import { fileTimes } from './place.ts'

const object = (plural: string, name: string, made = 5000) => ({ plural, name, made })
const files = [
  { file: 'a.test.ts', begun: 1000, ended: 5500 },
  { file: 'b.test.ts', begun: 5200, ended: 9000 },
  { file: 'c.test.ts', begun: 8000, ended: 9000 },
]

test('what stood before is not named; what is new is, by the files that may have made it', () => {
  const before = [object('tenants', 'x')]
  const after = [
    ...before,
    object('tenants', 'y'),
    object('tenants', 'z'),
    object('namespaces', 'z-build'),
    object('clusterbuilders', 'late', 8000),
  ]
  expect(leftBehindLines(before, after, files)).toEqual([
    'left behind: a.test.ts or b.test.ts: tenants y, z',
    'left behind: b.test.ts or c.test.ts: clusterbuilders late',
  ])
  expect(leftBehindLines(before, before, files)).toEqual([])
})

test('many of one kind are one line, and those that no file made have no file', () => {
  const after = Array.from({ length: 7 }, (_, index) => object('namespaces', `n${index}`, 60_000))
  expect(leftBehindLines([], after, files)).toEqual(['left behind: a test: namespaces n0, n1, n2, n3, n4 and 2 more'])
})

test('a file that was killed has no end', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'times-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const lines = [
    { file: 'a', at: 1 },
    { file: 'b', at: 2 },
    { file: 'a', at: 3 },
  ].map(line => `${JSON.stringify(line)}\n`)
  await writeFile(join(folder, fileTimes), lines.join(''))
  expect(await timesOfFiles(folder)).toEqual([
    { file: 'a', begun: 1, ended: 3 },
    { file: 'b', begun: 2, ended: Number.POSITIVE_INFINITY },
  ])
  expect(await timesOfFiles(join(folder, 'none'))).toEqual([])
})
