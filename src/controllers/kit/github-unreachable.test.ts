// When GitHub is asked again after it did not answer, or after the platform's own pace refused a request.
import { expect, test } from 'vitest'
import { retryMilliseconds, type Unreachable } from './github-unreachable.ts'

const answer = (retryAfterSeconds: number | undefined): Unreachable => ({
  kind: 'unreachable',
  message: 'away',
  retryAfterSeconds,
})

test.each([
  ['nobody asked for a pause', undefined, undefined, 30_000],
  ['the platform’s own pace', 10, undefined, 10_000],
  ['GitHub asks for a second each time', 1, undefined, 10_000],
  ['GitHub asks for a minute', 60, undefined, 60_000],
  ['GitHub asks for a day', 86_400, undefined, 3_600_000],
  ['a pause of the controller that grows, and nobody asked', undefined, 120_000, 120_000],
  ['a pause of the controller that grows is not shortened by a request', 1, 120_000, 120_000],
  ['a request that is longer than it', 300, 120_000, 300_000],
] as const)('%s', (_name, asked, shortest, milliseconds) => {
  expect(retryMilliseconds(answer(asked), shortest)).toBe(milliseconds)
})
