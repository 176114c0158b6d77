import { expect, test } from 'vitest'
import { BoundedMap } from './bounded-map.ts'

test('forgets what was set longest ago, once there is more than it may hold', () => {
  const map = new BoundedMap<number>(2)
  map.set('a', 1).set('b', 2).set('a', 3).set('c', 4)
  expect([...map]).toEqual([
    ['a', 3],
    ['c', 4],
  ])
})
