// What the page of walls names as proofs exists, and says what it is named for.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { attacks } from '../../../attack/list.ts'
import { matrix, provedBy } from './walls.ts'

const root = join(import.meta.dirname, '../../../..')
const rows = 'test/attack/rows'

/** The text of the test, and of what it plays. */
async function textOf(path: string): Promise<string> {
  const played = path === matrix ? (await readdir(join(root, rows))).map(name => join(rows, name)) : []
  const texts = await Promise.all([`${path}.test.ts`, ...played].map(file => readFile(join(root, file), 'utf8')))
  return texts.join('\n')
}

test.each(Object.entries(provedBy))('%s is proved by tests that are about it, and attacks that exist', async (_wall, proofs) => {
  for (const { path, has } of proofs.tests) expect((await textOf(path)).includes(has), `${path} has ${has}`).toBe(true)
  const names = attacks.map(({ name }) => name)
  expect(proofs.attacks.filter(name => !names.includes(name))).toEqual([])
})
