import { describe, expect, test } from 'vitest'
import { maxRows } from '../../../api/apps/app-pipeline/status.ts'
import type { AppPipeline } from '../../../api/apps/app-pipeline.ts'
import { fullCommit } from './previews-approve.ts'
import { listedPreviews } from './previews-list.ts'
import { pausedAfter, requireKnown } from './previews-pause.ts'

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

describe('a number that no open pull request has', () => {
  const listed = (open: readonly number[], { paused = [] as readonly number[], status = 'True' } = {}) =>
    ({
      metadata: { name: 'shop' },
      spec: { paused },
      status: { previews: open.map(number => ({ number })), conditions: [{ type: 'Listed', status }] },
    }) as unknown as AppPipeline
  const asked = (pipeline: AppPipeline, change: 'pause' | 'resume', ...numbers: readonly string[]) => {
    return () => requireKnown(pipeline, { change, numbers })
  }

  test('is refused before anything is changed, with those that are open', () => {
    const text = 'AppPipeline shop has no open pull request 99, so nothing was changed; open are 7, 12'
    expect(asked(listed([7, 12]), 'pause', '7', '99')).toThrow(text)
    expect(asked(listed([7, 12]), 'resume', '99')).toThrow(text)
    expect(asked(listed([]), 'pause', '98', '99')).toThrow(/pull requests 98, 99.*none is open/)
    expect(asked(listed([7]), 'pause', '7')).not.toThrow()
  })

  test('can be resumed when it is paused', () => {
    expect(asked(listed([], { paused: [99] }), 'resume', '99')).not.toThrow()
    expect(asked(listed([], { paused: [99] }), 'pause', '99')).toThrow('99')
  })

  test('is not certain while GitHub has not answered, or when the list is longer than a status', () => {
    expect(asked(listed([], { status: 'False' }), 'pause', '99')).not.toThrow()
    const full = listed(Array.from({ length: maxRows }, (_, index) => index + 1))
    expect(asked(full, 'pause', '999')).not.toThrow()
  })
})
