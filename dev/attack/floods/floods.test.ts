// The comparison of a flood with idle time: twice as long is the limit, milliseconds do not count, and every failure does.
import { expect, test } from 'vitest'
import type { Measured } from './bystander.ts'
import { compare } from './floods.ts'
import { openLoop, outcomesText } from './load.ts'

const measured = (uses: Partial<Measured['uses']> = {}, more: Partial<Measured> = {}): Measured => ({
  uses: { 'push to URL': [10_000], 'sign-in': [300], token: [50], kubectl: [5], ...uses },
  failures: new Map(),
  memoryMegabytes: 10,
  githubCalls: 20,
  auditRows: 30,
  ...more,
})

test('equal use is no problem, and neither is a kubectl of 30 ms instead of 5', () => {
  expect(compare(measured(), measured()).problems).toEqual([])
  expect(compare(measured(), measured({ kubectl: [30] })).problems).toEqual([])
})

test('more than twice as long, a failure, memory, calls and rows are problems', () => {
  const busy = measured(
    { 'sign-in': [700] },
    { failures: new Map([['token', 3]]), memoryMegabytes: 201, githubCalls: 5000, auditRows: 9000 },
  )
  expect(compare(measured(), busy).problems).toEqual([
    'sign-in p50 2.3×',
    'sign-in p90 2.3×',
    'token failed 3 times',
    'memory +201 MB',
    '5000 calls of GitHub',
    '9000 audit rows',
  ])
})

test('one slow use of many is the end of the tail, and one of a few is chance', () => {
  const tail = (samples: number, slow: number) => [...Array(samples - slow).fill(300), ...Array(slow).fill(3000)]
  const problems = (samples: number, slow: number) =>
    compare(measured({ 'sign-in': tail(samples, 0) }), measured({ 'sign-in': tail(samples, slow) })).problems
  expect(problems(20, 1)).toEqual([])
  expect(problems(20, 3)).toEqual(['sign-in p90 10.0×'])
  expect(problems(200, 2)).toEqual(['sign-in p99 10.0×'])
})

test('a use that never worked is a problem', () => {
  expect(compare(measured(), measured({ 'push to URL': [] })).problems).toContain('push to URL p50 NaN×')
})

test('an open loop sends at its pace, whatever comes back', async () => {
  const result = await openLoop({ perSecond: 100, seconds: 0.5 }, async number => {
    if (number % 2 === 0) throw Object.assign(new Error('x'), { code: 'ECONNRESET' })
    return '429'
  })
  expect(result.sent).toBeGreaterThanOrEqual(40)
  expect(result.sent).toBeLessThanOrEqual(50)
  expect(outcomesText(result)).toMatch(/^\d+ sent: \d+ × (ECONNRESET|429), \d+ × (ECONNRESET|429)$/)
})
