import { expect, test } from 'vitest'
import type { AppPipeline } from '../../../api/apps/app-pipeline.ts'
import { fullCommit } from './previews-approve.ts'
import { listedPreviews } from './previews-list.ts'
import { pausedAfter, unknownNumbers } from './previews-pause.ts'

const commit = 'a'.repeat(40)

test.each([commit.slice(0, 12), commit.toUpperCase(), `${commit}a`, 'HEAD', ''])('%j is not a full commit id', text => {
  expect(() => fullCommit(text)).toThrow('--commit must be the full id')
})

test('a full commit id is taken as it is', () => {
  expect(fullCommit(commit)).toBe(commit)
})

test('numbers are paused once and resumed wherever they stand', () => {
  expect(pausedAfter([9, 3], [7, 7, 9], 'pause')).toEqual([3, 7, 9])
  expect(pausedAfter([3, 7, 9], [7], 'resume')).toEqual([3, 9])
  expect(pausedAfter([], [7], 'resume')).toEqual([])
})

test('previews are listed by AppPipeline and number', () => {
  const pipeline = (name: string, ...numbers: readonly number[]) =>
    ({ metadata: { name }, status: { previews: numbers.map(number => ({ number })) } }) as unknown as AppPipeline
  const rows = listedPreviews([
    pipeline('shop', 12, 3),
    { metadata: { name: 'none' } } as unknown as AppPipeline,
    pipeline('api', 5),
  ])
  expect(rows.map(row => `${row.pipeline}/${row.number}`)).toEqual(['api/5', 'shop/3', 'shop/12'])
})

test('a number that no open pull request has is said', () => {
  const status = { previews: [{ number: 7 }] } as never
  expect(unknownNumbers({ status }, ['7', '99'])).toEqual(['99'])
  expect(unknownNumbers({}, ['7'])).toEqual(['7'])
})
