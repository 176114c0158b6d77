import { expect, expectTypeOf, test } from 'vitest'
import { defined } from './defined.ts'

test('keeps every value but undefined', () => {
  expect(Object.entries(defined({ a: undefined, b: null, c: 0, d: '', e: false }))).toEqual([
    ['b', null],
    ['c', 0],
    ['d', ''],
    ['e', false],
  ])
})

test('a field that may be undefined is optional, and never undefined', () => {
  const name = 'http' as string | undefined
  expectTypeOf({ number: 80, ...defined({ name }) }).toExtend<{ readonly number: number; readonly name?: string }>()
})
