// A controller takes its reasons from the definition of its kind, where each has a class: one that is written as a text escapes
// the compiler.
import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

/**
 * No reasons of conditions of ours: Events of their own, errors of the API server, a condition on a volume claim, changes of a
 * Release.
 */
const others = [
  'AnswerDeleted',
  'BreakGlass',
  'PodForced',
  'EndpointsWithinBound',
  'TooManyEndpoints',
  'Conflict',
  'Malformed',
  'Kept',
  'Retried',
]

test('no reason of a condition is a text', () => {
  const files = globSync(`${import.meta.dirname}/**/*.ts`, { exclude: ['**/*.test.ts', '**/testing/**'] })
  expect(files.length).toBeGreaterThan(200)
  const written = files.flatMap(file => [...readFileSync(file, 'utf8').matchAll(/\breason: '(?<name>[A-Z]\w+)'/g)])
  expect(written.flatMap(({ groups }) => groups?.['name'] ?? []).filter(name => !others.includes(name))).toEqual([])
})
