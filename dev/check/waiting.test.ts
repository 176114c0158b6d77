import { expect, test } from 'vitest'
import { findingsOf } from './waiting-rules.ts'

const rulesIn = (text: string): readonly string[] => findingsOf('a.test.ts', text).map(({ rule }) => rule)

test.each([
  ['sleep', `await new Promise(resolve => setTimeout(resolve, 100))`],
  ['sleep', `await new Promise(resolve => setTimeout(() => resolve(), 100))`],
  ['sleep', `import { setTimeout as wait } from 'node:timers/promises'`],
  ['sleep', `await systemClock.sleep(10)`],
  ['wait', `await vi.waitFor(() => expect(seen).toBe(1))`],
  ['wait', `await vi.waitUntil(() => seen)`],
  ['wait', `await expect.poll(() => seen).toBe(1)`],
  ['wait', `await expect\n  .poll(() => seen, { timeout: 5 })\n  .toBe(1)`],
  ['limit', `await waitUntil('a', check, { timeoutMilliseconds: 20_000 })`],
  ['limit', `await waitUntil('a', check, { everyMilliseconds: 5, timeoutMilliseconds: 20 * 1000 })`],
  ['limit', `const patience = { timeoutMilliseconds: 5000 }\nawait waitUntil('a', check, patience)`],
  ['limit', `const patience = { timeoutMilliseconds: 5000 }\nawait waitUntil('a', check, { ...patience, hopeless })`],
  ['duration', `expect(Date.now() - began).toBeLessThan(1500)`],
  ['duration', `expect(performance.now() - began, 'quick').toBeLessThanOrEqual(1500)`],
  ['duration', `const took = (performance.now() - began) / 1000\nexpect(took).toBeLessThan(2)`],
])('refused as a %s: %s', (rule, text) => {
  expect(rulesIn(text)).toEqual([rule])
})

test.each([
  `await clock.sleep(5000)`,
  `const limit = setTimeout(() => child.kill(), 5000)`,
  `const clock = { sleep: () => new Promise(resolve => setTimeout(resolve, 1)) }`,
  `const quick = { now, sleep: (time, signal) => systemClock.sleep(time / 10, signal) }`,
  `vi.useFakeTimers({ toFake: ['setTimeout'] })`,
  `const program = "setTimeout(() => {}, 100)"`,
  `// setTimeout(resolve, 100)`,
  `await waitUntil('a', check)`,
  `await waitUntil('a', check, { everyMilliseconds: 500 })`,
  `await waitUntil('a', check, { timeoutMilliseconds: limits.build })`,
  `const patience = { timeoutMilliseconds: limits.build }\nawait waitUntil('a', check, { ...patience, hopeless })`,
  `await renderer.render(chart, input, { timeoutMilliseconds: 5000 })`,
  `expect(performance.now() - began).toBeGreaterThan(1500)`,
  `expect(process.threadCpuUsage(began).user).toBeLessThan(1000)`,
  `const since = () => Date.now() - began\nexpect(since).toBeLessThan(1)`,
  `expect(text.length).toBeLessThan(100)`,
])('nothing is found in %s', text => {
  expect(rulesIn(text)).toEqual([])
})

test('a finding names its line and its cure', () => {
  expect(findingsOf('a.test.ts', `\n\nawait vi.waitFor(check)\n`)).toEqual([
    { line: 3, rule: 'wait', cure: expect.stringContaining('use waitUntil of src/lib/waiting') },
  ])
})
