import { expect, test } from 'vitest'
import { done, requeueAfter } from '../../kube/controller/controller.ts'
import { requeueAfterSoonest, soonest } from './soonest.ts'

test('the soonest of what waits counts; without one nothing is looked at again', () => {
  expect([soonest(), soonest(undefined), soonest(undefined, 20, 10)]).toEqual([undefined, undefined, 10])
  expect(requeueAfterSoonest(undefined)).toEqual(done)
  expect(requeueAfterSoonest(0, undefined, 5)).toEqual(requeueAfter(0))
  // Longer than a timer of Node.js can wait.
  expect(requeueAfterSoonest(31_536_000_000)).toEqual(requeueAfter(2_147_000_000))
})
