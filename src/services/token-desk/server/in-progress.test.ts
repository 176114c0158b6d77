// What counts as in progress.
import { expect, test } from 'vitest'
import { createInProgress } from './in-progress.ts'

test('work is in progress until it has settled, also when it failed', async () => {
  const { during, isAny } = createInProgress()
  const [first, second] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()]
  expect(isAny()).toBe(false)
  const both = [during(() => first.promise), during(() => second.promise)] as const
  expect(isAny()).toBe(true)
  first.resolve('a token')
  expect(await both[0]).toBe('a token')
  expect(isAny()).toBe(true)
  second.reject(new Error('refused'))
  await expect(both[1]).rejects.toThrow('refused')
  expect(isAny()).toBe(false)
})
