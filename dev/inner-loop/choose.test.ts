// What is named like the word, what imports it, and what uses it through others.
import { expect, test } from 'vitest'
import type { Imports } from '../test/vitest/imports.ts'
import { type Checkout, choose } from './choose.ts'

const uses: Readonly<Record<string, readonly string[]>> = {
  'test/integration/direct.test.ts': ['src/lock/take.ts', 'test/fixtures/x.ts'],
  'test/integration/far.test.ts': ['test/fixtures/x.ts'],
  'test/integration/farther.test.ts': ['test/fixtures/y.ts'],
  'test/fixtures/y.ts': ['test/fixtures/x.ts'],
  'test/fixtures/x.ts': ['src/lock/free.ts'],
}
const imports: Imports = {
  direct: file => uses[file] ?? [],
  reach(file) {
    const steps = new Map([[file, 0]])
    for (const [one, distance] of steps) for (const next of uses[one] ?? []) if (!steps.has(next)) steps.set(next, distance + 1)
    return steps
  },
}
const integration = ['farther', 'far', 'direct', 'lock', 'none'].map(name => `test/integration/${name}.test.ts`)
const checkout: Checkout = {
  sources: ['src/lock/take.ts', 'src/lock/free.ts', 'src/key.ts'],
  small: ['src/lock/take.test.ts', 'src/key.test.ts'],
  large: { integration, e2e: ['test/e2e/none.test.ts'] },
}

test('small tests by their path, large ones by their name and by what they use, nearest first', () => {
  expect(choose('lock', checkout, imports)).toEqual({
    small: ['src/lock/take.test.ts'],
    sources: ['src/lock/take.ts', 'src/lock/free.ts'],
    users: [
      {
        project: 'integration',
        near: ['test/integration/lock.test.ts', 'test/integration/direct.test.ts'],
        far: ['test/integration/far.test.ts', 'test/integration/farther.test.ts'],
      },
    ],
  })
})

test('a word that nothing is named like has no tests', () => {
  expect(choose('nothing', checkout, imports)).toEqual({ small: [], sources: [], users: [] })
})
