import { expect, test, vi } from 'vitest'
import { derivedFrom } from './derived.ts'

test('derives once for each value of the source', () => {
  let source: { readonly text: string } | undefined = { text: 'one' }
  const derive = vi.fn((present: typeof source) => ({ length: present?.text.length }))
  const length = derivedFrom(() => source, derive)
  const first = length()
  expect(first).toEqual({ length: 3 })
  expect(length()).toBe(first)
  source = { text: 'three' }
  expect(length()).toEqual({ length: 5 })
  source = undefined
  expect(length()).toEqual({ length: undefined })
  expect(length()).toEqual({ length: undefined })
  expect(derive).toHaveBeenCalledTimes(3)
})

test('does not keep a failure', () => {
  let works = false
  const value = derivedFrom(
    () => 1,
    () => {
      if (!works) throw new Error('not yet')
      return 'derived'
    },
  )
  expect(value).toThrow('not yet')
  works = true
  expect(value()).toBe('derived')
})
