import fc from 'fast-check'
import { expect, test } from 'vitest'
import { takeToken } from './token-bucket.ts'

test('never grants more, nor less, than the burst and the rate allow', () => {
  const rate = { burst: 5, millisecondsPerToken: 100 }
  fc.assert(
    fc.property(fc.array(fc.nat(400), { maxLength: 60 }), pauses => {
      let bucket: number | undefined
      let tokens = rate.burst
      let now = 0
      for (const pause of pauses) {
        now += pause
        tokens = Math.min(rate.burst, tokens + pause / rate.millisecondsPerToken)
        const { reserved, wait } = takeToken(rate, bucket, now)
        // The result of a bucket that counts tokens.
        expect(wait === 0).toBe(tokens >= 1 - 1e-9)
        if (wait > 0) continue
        bucket = reserved
        tokens -= 1
      }
    }),
  )
})

test('waiting callers are served in turn, at the rate', () => {
  let bucket: number | undefined
  const waits = Array.from({ length: 5 }, () => {
    const { reserved, wait } = takeToken({ burst: 2, millisecondsPerToken: 100 }, bucket, 1000)
    bucket = reserved
    return wait
  })
  expect(waits).toEqual([0, 0, 100, 200, 300])
})
