import { expect, test } from 'vitest'
import { once } from './once.ts'

test('work begins with the first call, and all calls share its result, a failure included', async () => {
  let calls = 0
  const work = once(async () => {
    calls += 1
    throw new Error(`call ${calls}`)
  })
  expect(calls).toBe(0)
  await expect(work()).rejects.toThrow('call 1')
  await expect(work()).rejects.toThrow('call 1')
  expect(calls).toBe(1)
})
