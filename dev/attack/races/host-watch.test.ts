// The judging of a race for a host: any look that shows another tenant is harm, however many others do not.
import { expect, test } from 'vitest'
import { harmIn, type Look, mark } from './host-watch.ts'

const look = (change: Partial<Look> = {}): Look => ({ owner: 'acme', servedBy: ['acme'], answer: 'the shop', ...change })

test('a host that only its owner has, or nobody for a moment, is no harm', () => {
  expect(harmIn([look(), look({ owner: undefined, servedBy: [], answer: '404 page not found' }), look()], 'acme')).toBeUndefined()
  expect(harmIn([look({ owner: 'globex', servedBy: ['globex'], answer: mark })], 'globex')).toBeUndefined()
})

test.each<[string, Partial<Look>, string]>([
  ['a claim of another tenant', { owner: 'globex' }, 'look 2 of 3: the claim is of globex'],
  ['an Ingress of another tenant', { servedBy: ['acme', 'globex'] }, 'look 2 of 3: an Ingress of globex serves the host'],
  ['an answer of another tenant', { answer: `<p>${mark}` }, 'look 2 of 3: an Application of globex answered'],
])('%s in one of the looks is harm', (_what, change, harm) => {
  expect(harmIn([look(), look(change), look()], 'acme')).toBe(harm)
})
