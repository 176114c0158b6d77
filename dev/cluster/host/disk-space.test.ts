// One sentence with the cure when a disk is full.
import { expect, test } from 'vitest'
import { demandSpace, freeSpace } from './disk-space.ts'

const needs = { mebibytes: 100, files: 1000 }
const demand = (has: typeof needs) => demandSpace('/tmp', has, needs, 'TMPDIR')

test('enough of both passes', () => {
  expect(demand({ mebibytes: 100, files: 1000 })).toBeUndefined()
  expect(demand({ mebibytes: 100, files: Number.POSITIVE_INFINITY })).toBeUndefined()
})

test('too little of either is a sentence with what is free, what is needed and the cure', () => {
  expect(() => demand({ mebibytes: 3, files: 5000 })).toThrow(
    'the disk of /tmp has 3 MiB free, and 100 are needed: delete something there, or set TMPDIR to a folder elsewhere',
  )
  expect(() => demand({ mebibytes: 3000, files: 7 })).toThrow('has room for 7 more files, and 1000 are needed')
})

test('a real disk is measured', async () => {
  const { mebibytes, files } = await freeSpace('/')
  expect(mebibytes).toBeGreaterThanOrEqual(0)
  expect(files).toBeGreaterThanOrEqual(0)
})
