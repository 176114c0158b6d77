// Host names of previews: what outsiders name cannot break them or take another preview's.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hostLabel } from './host.ts'

const facts = { pattern: 'pr-{number}-{name}', pipeline: 'shop', number: 12, branch: 'main', isFork: false }

test.each([
  [{}, 'pr-12-shop'],
  [{ isFork: true }, 'fork-pr-12-shop'],
  [{ pattern: '{branch}-{number}', branch: 'Feature/Ünïcode__x' }, 'feature-n-code-x-12'],
  [{ pattern: '{branch}-{number}', branch: '日本語' }, 'branch-12'],
  [{ pattern: '{number}', branch: 'x' }, '12'],
  [{ pattern: '{branch}-{number}', branch: '$&{number}$1' }, 'number-1-12'],
])('%j is %s', (changes, label) => {
  expect(hostLabel({ ...facts, ...changes })).toBe(label)
})

/** Patterns that the kind accepts: its rules (src/api/apps/app-pipeline/preview.ts), in TypeScript. */
const pattern = fc
  .array(fc.oneof(fc.constantFrom('{name}', '{branch}', '{number}'), fc.stringMatching(/^[a-z0-9]{1,8}$/)), {
    minLength: 1,
    maxLength: 5,
  })
  .map(parts => parts.join('-'))
  .filter(
    text =>
      text.length <= 40 &&
      ['{number}', '{name}', '{branch}'].every(one => text.split(one).length <= 2) &&
      text.includes('{number}'),
  )
const branch = fc.oneof(
  fc.string({ maxLength: 300, unit: 'binary' }),
  fc.stringMatching(/^[-a-z0-9]{1,300}$/),
  fc.integer().map(String),
  fc.stringMatching(/^[12]-[12](-shop)?$/),
)
const number = fc.oneof(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 2 ** 31 - 1 }))
const pipeline = fc.stringMatching(/^[a-z][a-z0-9]{0,61}[a-z0-9]$/)

test('a host is a DNS label, and no two pull requests of an AppPipeline have the same', () => {
  const pulls = fc.uniqueArray(fc.record({ number, branch, isFork: fc.boolean() }), {
    minLength: 2,
    maxLength: 20,
    selector: one => one.number,
  })
  fc.assert(
    fc.property(pattern, pipeline, pulls, (text, name, all) => {
      const labels = all.map(one => hostLabel({ pattern: text, pipeline: name, ...one }))
      for (const label of labels) expect(label).toMatch(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/)
      expect(new Set(labels).size).toBe(labels.length)
    }),
    { numRuns: 1000 },
  )
})
