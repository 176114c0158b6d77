import { describe, expect, test } from 'vitest'
import { kinds } from '../registry.ts'
import { customResourceDefinition } from './crd.ts'
import { structuralProblems } from './testing/structural.ts'

const schemaParts = kinds.flatMap(kind => [
  [`${kind.kind} spec`, kind.specSchema] as const,
  [`${kind.kind} status`, kind.statusSchema] as const,
])

test.each(schemaParts)('%s is structural, bounded and described', (_name, schema) => {
  expect(structuralProblems(JSON.parse(JSON.stringify(schema)))).toEqual([])
})

describe('the check itself', () => {
  test.each([
    ['an unbounded string', { type: 'string', description: 'x' }, 'maxLength'],
    ['an unbounded list', { type: 'array', items: { type: 'integer', description: 'x' }, description: 'x' }, 'maxItems'],
    ['a look-ahead', { type: 'string', maxLength: 9, pattern: '^(?=a)', description: 'x' }, 'RE2'],
    ['a union', { anyOf: [], type: 'object', description: 'x' }, 'anyOf'],
    [
      'an unbounded map',
      { type: 'object', additionalProperties: { type: 'boolean', description: 'x' }, description: 'x' },
      'maxProperties',
    ],
  ])('finds %s', (_name, schema, word) => {
    expect(structuralProblems(schema, '.x').join()).toContain(word)
  })
})

test('names, short names and plurals are unique, and every kind is in the category', () => {
  const definitions = kinds.map(customResourceDefinition) as {
    metadata: { name: string }
    spec: { names: { shortNames: string[]; categories: string[] } }
  }[]
  const names = definitions.flatMap(definition => [definition.metadata.name, ...definition.spec.names.shortNames])
  expect(new Set(names).size).toBe(names.length)
  for (const definition of definitions) expect(definition.spec.names.categories).toEqual(['sekisho'])
})

test('an immutable kind says so in its schema', () => {
  const crd = JSON.stringify(customResourceDefinition(kinds.find(kind => kind.kind === 'Installation') ?? expect.fail()))
  expect(crd).toContain('self == oldSelf')
})
