// Which form was asked for, and which one runs.
import { expect, test } from 'vitest'
import { askedMode, deploymentsOf, modeOf } from './mode.ts'

test('MODE names a form, or nothing; anything else is refused with the forms that there are', () => {
  expect([undefined, '', 'standalone', 'production'].map(askedMode)).toEqual([undefined, undefined, 'standalone', 'production'])
  expect(() => askedMode('Production')).toThrow('MODE must be one of standalone, production, not Production')
})

test('any Deployment of a form says which form it is, also when an interrupted change has deleted the others', () => {
  for (const mode of ['standalone', 'production'] as const)
    for (const name of deploymentsOf[mode]) expect(modeOf([name, 'sekisho-network-probe'])).toBe(mode)
  expect(modeOf(['sekisho-network-probe'])).toBeUndefined()
  expect(modeOf([])).toBeUndefined()
})
