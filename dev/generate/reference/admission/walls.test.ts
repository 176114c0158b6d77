// What the page of walls names as proofs exists.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { attacks } from '../../../attack/list.ts'
import { provedBy } from './walls.ts'

const root = join(import.meta.dirname, '../../../..')

test.each(Object.entries(provedBy))('%s is proved by tests and attacks that exist', (_wall, { tests, attacks: played }) => {
  expect(tests.length).toBeGreaterThan(0)
  expect(tests.filter(path => !existsSync(join(root, `${path}.test.ts`)))).toEqual([])
  const names = attacks.map(({ name }) => name)
  expect(played.filter(name => !names.includes(name))).toEqual([])
})
