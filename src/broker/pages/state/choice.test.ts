// Addresses of a tenant's page, also those that no form made.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { choiceIn, chosen, everything, isChosen, isEverything } from './choice.ts'

test.each([
  {},
  { name: '' },
  { name: ['a', 'b'] },
  { state: 'constructor' },
  { state: 'bad' },
  { applications: '0' },
  { applications: '-1' },
  { applications: '99999' },
  { applications: '1e3' },
  { other: 'x' },
])('%j chooses everything', query => {
  expect(choiceIn(query)).toEqual(everything)
  expect(isEverything(choiceIn(query))).toBe(true)
})

test('no address is an error, and none is without a bound', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom('name', 'state', 'applications', 'remotesyncs'), fc.anything()), query => {
      const { text, pages } = choiceIn(query)
      expect(text.length).toBeLessThanOrEqual(63)
      for (const page of Object.values(pages)) expect(Number.isInteger(page) && page >= 1 && page <= 1000).toBe(true)
    }),
  )
})

test('names count in either case, states by the class of the reason', () => {
  const row = { of: 'failed', texts: ['Shop', undefined] } as const
  expect(isChosen(choiceIn({ name: ' sHO ' }), row)).toBe(true)
  expect(isChosen(choiceIn({ name: 'web' }), row)).toBe(false)
  expect(isChosen(choiceIn({ state: 'attention' }), row)).toBe(true)
  expect(isChosen(choiceIn({ state: 'good' }), row)).toBe(false)
})

test('what failed comes first, then what needs somebody, and equals keep their order', () => {
  const rows = (['ready', 'intended', 'progress', 'machine', 'person', 'failed', 'ready'] as const).map((of, index) => ({
    ...{ of, index, texts: [] },
  }))
  expect(chosen(everything, rows).map(({ of, index }) => [of, index])).toEqual([
    ['failed', 5],
    ['person', 4],
    ['machine', 3],
    ['progress', 2],
    ['intended', 1],
    ['ready', 0],
    ['ready', 6],
  ])
})
