import fc from 'fast-check'
import { expect, test } from 'vitest'
import { literal } from './literal.ts'
import { awkwardText, expand } from './testing/kubelet-expansion.ts'

const values = new Map([
  ['SECRET', 'hunter2'],
  ['A', '$$(SECRET)'],
  ['', 'empty'],
])

test.each([
  ['pa$$word', 'pa$word'],
  ['$(SECRET)', 'hunter2'],
  ['$$(SECRET)', '$(SECRET)'],
  ['$(HOME)', '$(HOME)'],
  ['$()', 'empty'],
  ['a$', 'a$'],
  ['$(open', '$(open'],
  ['$x$é', '$x$é'],
])('the kubelet reads %s as %s', (text, expected) => {
  expect(expand(text, values)).toBe(expected)
})

test('older kubelets break a character behind a dollar sign', () => {
  expect(expand('$é', values, 'bytes')).not.toBe('$é')
})

test.each(['characters', 'bytes'] as const)('any text arrives as it is at a kubelet that reads %s', reading => {
  fc.assert(fc.property(awkwardText, text => void expect(expand(literal(text), values, reading)).toBe(text)))
})

test.each(['', 'plain', '$PORT', 'exec node --port $PORT $1', 'a$', '(x)$'])('%j needs no change', text => {
  expect(literal(text)).toBe(text)
})
