import { expect, test } from 'vitest'
import { createKeyedMutex } from './keyed-mutex.ts'

test('equal keys take mutex in the order of the calls, also after a failure; other keys do not wait', async () => {
  const mutex = createKeyedMutex()
  const events: string[] = []
  const first = Promise.withResolvers<void>()
  const one = mutex.run('a', async () => {
    events.push('a1 begins')
    await first.promise
    throw new Error('a1 failed')
  })
  const two = mutex.run('a', async () => void events.push('a2'))
  await mutex.run('b', async () => void events.push('b'))
  expect(events).toEqual(['a1 begins', 'b'])
  first.resolve()
  await expect(one).rejects.toThrow('a1 failed')
  await two
  expect(events.at(-1)).toBe('a2')
})
