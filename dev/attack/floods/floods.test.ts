// The comparison of a flood with idle time: twice as long is the limit, milliseconds do not count, and every failure does.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { boundsOf } from './bounds.ts'
import { growthOf, type Measured } from './bystander.ts'
import { compare } from './floods.ts'
import { openLoop, outcomesText } from './load.ts'

const bounds = { githubCalls: 100, auditRows: 200 }

const measured = (uses: Partial<Measured['uses']> = {}, more: Partial<Measured> = {}): Measured => ({
  uses: { 'push to URL': [10_000], 'sign-in': [300], token: [50], kubectl: [5], request: [5], 'new Service': [300], ...uses },
  failures: new Map(),
  memoryMegabytes: new Map([['10.0.0.1', 10]]),
  githubCalls: 20,
  auditRows: 30,
  ...more,
})

test('equal use is no problem, and neither is a kubectl of 30 ms instead of 5', () => {
  expect(compare(measured(), measured(), bounds).problems).toEqual([])
  expect(compare(measured(), measured({ kubectl: [30] }), bounds).problems).toEqual([])
})

test('a new Service may take two seconds, whatever it takes in idle time', () => {
  expect(compare(measured(), measured({ 'new Service': [2000] }), bounds).problems).toEqual([])
  expect(compare(measured(), measured({ 'new Service': [2001] }), bounds).problems).toEqual([
    'new Service p50 6.7×',
    'new Service p90 6.7×',
  ])
})

test('more than twice as long, a failure, memory, calls and rows are problems', () => {
  const grown = new Map([
    ['10.0.0.1', 12],
    ['10.0.0.2', 201],
  ])
  const busy = measured(
    { 'sign-in': [700] },
    { failures: new Map([['token', 3]]), memoryMegabytes: grown, githubCalls: 101, auditRows: 201 },
  )
  expect(compare(measured(), busy, bounds).problems).toEqual([
    'sign-in p50 2.3×',
    'sign-in p90 2.3×',
    'token failed 3 times',
    'memory of 10.0.0.2 +201 MB',
    '101 calls of GitHub, more than 100',
    '201 audit rows, more than 200',
  ])
})

test('each process grows beside itself: a small one does not hide behind a large one', () => {
  const before = new Map([
    ['large', 900e6],
    ['small', 100e6],
  ])
  const highest = new Map([
    ['large', 910e6],
    ['small', 400e6],
  ])
  expect([...growthOf(before, highest)]).toEqual([
    ['large', 10],
    ['small', 300],
  ])
})

test('a flood may cost what the documentation says, beside twice what is used without it', () => {
  const quiet = { githubCalls: 20, auditRows: 30 }
  expect(boundsOf('refusals', quiet, 2)).toEqual({ githubCalls: 40, auditRows: 60 + 2 * 84 })
  expect(boundsOf('checks of grants', quiet, 1)).toEqual({ githubCalls: 40 + 510 * 5, auditRows: 60 + 84 + 510 * 4 })
})

test('the bounds are those of docs/guide/token-limits.md', async () => {
  const text = (await readFile(join(import.meta.dirname, '../../../docs/guide/token-limits.md'), 'utf8')).replaceAll(/\s+/g, ' ')
  for (const sentence of [
    'at most 42 a minute for refusals of any number',
    '| checks of all grants of one tenant at GitHub (leader) | 500 at once, then 600 an hour |',
    "A check creates one token, reads the requester and the requester's access to each repository of the grant, and revokes the token.",
    '4 for each check that changes a decision',
  ])
    expect(text).toContain(sentence)
})

test('one slow use of many is the end of the tail, and one of a few is chance', () => {
  const tail = (samples: number, slow: number) => [...Array(samples - slow).fill(300), ...Array(slow).fill(3000)]
  const problems = (samples: number, slow: number) =>
    compare(measured({ 'sign-in': tail(samples, 0) }), measured({ 'sign-in': tail(samples, slow) }), bounds).problems
  expect(problems(20, 1)).toEqual([])
  expect(problems(20, 3)).toEqual(['sign-in p90 10.0×'])
  expect(problems(200, 2)).toEqual(['sign-in p99 10.0×'])
})

test('a use that never worked is a problem', () => {
  expect(compare(measured(), measured({ 'push to URL': [] }), bounds).problems).toContain('push to URL p50 NaN×')
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
