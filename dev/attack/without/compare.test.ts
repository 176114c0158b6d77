// What a layer alone stops: only what was stopped with all layers and passes without it counts, and the report says so.
import { expect, test } from 'vitest'
import type { AttemptResult } from '../attack.ts'
import { stopped, succeeded, unclear, type Verdict } from '../verdict.ts'
import { compareRuns } from './compare.ts'
import { withoutLines } from './report.ts'

const result = (attempt: string, verdict: Verdict, attack = 'a/b'): AttemptResult => ({ attack, attempt, seconds: 1, ...verdict })

const before = [
  result('alone', stopped('admission', '403')),
  result('by another', stopped('admission', '403')),
  result('by the same', stopped('RBAC', '403')),
  result('not seen', stopped('admission', '403')),
  result('open before', succeeded('201')),
  result('gone', stopped('RBAC', '403')),
  result('twice', stopped('admission', 'first')),
  result('twice', stopped('admission', 'second')),
]
const after = [
  result('by another', stopped('RBAC', '403')),
  result('alone', succeeded('201 Pod attack')),
  result('by the same', stopped('RBAC', '403')),
  result('not seen', unclear('500')),
  result('open before', succeeded('201')),
  result('new', succeeded('201')),
  result('twice', stopped('admission', 'first')),
  result('twice', succeeded('201')),
]

test('attempts are compared by name, whatever their order', () => {
  expect(compareRuns(before, after)).toEqual({
    stoppedBefore: 6,
    stillStopped: 3,
    caughtBy: { RBAC: 1 },
    passed: [
      { attack: 'a/b', attempt: 'alone', evidence: '201 Pod attack', stoppedBefore: 'admission' },
      { attack: 'a/b', attempt: 'twice', evidence: '201', stoppedBefore: 'admission' },
    ],
    unclear: [{ attack: 'a/b', attempt: 'not seen', evidence: '500', stoppedBefore: 'admission' }],
    unmatched: 2,
  })
})

test('the report has a row for each layer, and says what passed', () => {
  const lines = withoutLines([
    { layer: 'policies', what: 'x', alarm: 'y', ...compareRuns(before, after) },
    { layer: 'webhook', what: 'x', alarm: 'y', ...compareRuns(before, before) },
  ])
  expect(lines).toContain('PASSED      a/b                                2')
  expect(lines).toContain('            alone (was stopped by admission)')
  expect(lines).toContain('2 attempts were made in one of the runs only, and are not compared')
  expect(lines.slice(-4)).toEqual([
    'without   tried  still stopped  of them by another layer  stopped by it alone  unclear',
    'policies  6      3              RBAC 1                    2                    1',
    'webhook   7      7              0                         0                    0',
    expect.stringMatching(/^Every layer is back\. What passed without one is no failure/),
  ])
})

test('of one attack the first attempts are shown', () => {
  const names = Array.from({ length: 10 }, (_, index) => `n${index}`)
  const many = (verdict: Verdict) => names.map(name => result(name, verdict))
  const comparison = compareRuns(many(stopped('RBAC', 'x')), many(succeeded('y')))
  expect(withoutLines([{ layer: 'policies', what: 'x', alarm: 'y', ...comparison }])).toContain(
    '            and 2 more: -o json has them all',
  )
})
