import { expect, test } from 'vitest'
import { createPollingPace } from './polling-pace.ts'

test('one request of a device in each window is allowed, whichever replica it reaches; its code is not in the name', async () => {
  const counted = new Map<string, number>()
  const windows: number[] = []
  const count = async (name: string, window: number) => {
    windows.push(window)
    counted.set(name, (counted.get(name) ?? 0) + 1)
    return counted.get(name) ?? 0
  }
  const [one, other] = [createPollingPace(count), createPollingPace(count)]
  expect(await one.mayPoll('code-of-a')).toBe(true)
  expect(await other.mayPoll('code-of-a')).toBe(false)
  expect(await other.mayPoll('code-of-b')).toBe(true)
  expect([...counted.keys()].join()).not.toContain('code-of')
  expect(new Set(windows)).toEqual(new Set([4500]))
})
