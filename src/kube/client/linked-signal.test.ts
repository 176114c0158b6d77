import { getEventListeners } from 'node:events'
import { expect, onTestFinished, test, vi } from 'vitest'
import { linkSignals } from './linked-signal.ts'

test('aborts with the reason of the first signal that does', () => {
  const [one, other] = [new AbortController(), new AbortController()]
  const { signal } = linkSignals([one.signal, undefined, other.signal])
  expect(signal.aborted).toBe(false)
  other.abort('other')
  one.abort('one')
  expect(signal.reason).toBe('other')
  expect(linkSignals([new AbortController().signal, one.signal, other.signal]).signal.reason).toBe('one')
})

test('after unlink it never aborts, and no listener stays at the signals', () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const term = new AbortController()
  const { signal, unlink } = linkSignals([term.signal], 1000)
  expect([getEventListeners(term.signal, 'abort').length, vi.getTimerCount()]).toEqual([1, 1])
  unlink()
  expect([getEventListeners(term.signal, 'abort').length, vi.getTimerCount()]).toEqual([0, 0])
  term.abort()
  expect(signal.aborted).toBe(false)
})

test('aborts after the time limit', () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const { signal } = linkSignals([], 1000)
  vi.advanceTimersByTime(999)
  expect(signal.aborted).toBe(false)
  vi.advanceTimersByTime(1)
  expect(signal.reason).toMatchObject({ name: 'TimeoutError', message: 'no end within 1000 ms' })
})
