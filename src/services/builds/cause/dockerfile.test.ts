// Real logs of BuildKit 0.33.1, as the pods of Dockerfile builds write them, each with the sentence that its owner gets. Only
// addresses of the machine on which they ran were replaced.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { causeOf } from './cause.ts'

const folder = join(import.meta.dirname, 'fixtures-dockerfile')
const expected = JSON.parse(readFileSync(join(folder, 'sentences.json'), 'utf8')) as Readonly<Record<string, string>>
const logs = readdirSync(folder).flatMap(name => (name.endsWith('.txt') ? [name.slice(0, -'.txt'.length)] : []))

test('every log has its sentence', () => {
  expect(Object.keys(expected).sort()).toEqual(logs.sort())
  expect(logs.length).toBeGreaterThanOrEqual(20)
})

test.each(logs)('%s', name => {
  expect(causeOf(readFileSync(join(folder, `${name}.txt`), 'utf8'))?.sentence).toBe(expected[name])
})
