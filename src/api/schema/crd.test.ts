// Proves what an API server and `kubectl explain` need of every kind; test/integration/crds.test.ts proves the rest on an API
// server.
import { describe, expect, test } from 'vitest'
import { asObject, objectAt } from '../../lib/json/json-value.ts'
import { kinds } from '../registry.ts'
import { customResourceDefinition } from './crd.ts'
import { structuralProblems, undescribed } from './testing/structural.ts'

/** The schema of a whole object, as it is installed. */
function installedSchema(kind: (typeof kinds)[number]): unknown {
  const versions = objectAt(customResourceDefinition(kind), 'spec')?.['versions']
  return objectAt(Array.isArray(versions) ? versions[0] : undefined, 'schema', 'openAPIV3Schema')
}

const installed = kinds.map(kind => [kind.kind, installedSchema(kind)] as const)

test.each(installed)('%s is structural and bounded', (_kind, schema) => {
  const parts = asObject(asObject(schema)?.['properties']) ?? {}
  for (const part of ['spec', 'status']) expect(structuralProblems(parts[part])).toEqual([])
})

test.each(installed)('kubectl explain describes every field of %s in sentences', (_kind, schema) => {
  // The API server forbids a description of `metadata` and adds its own.
  expect(undescribed(schema)).toEqual(['.metadata'])
})

test.each(kinds.map(kind => [kind.kind, kind.options] as const))(
  'the texts of %s about itself are sentences',
  (_kind, { description, writtenBy, conditions, reasons }) => {
    const texts = [description, writtenBy, ...Object.values(conditions), ...[...reasons.byName.values()].map(({ says }) => says)]
    for (const text of texts) expect(text).toMatch(/^[`A-Z].*[.]$/)
  },
)

describe('the checks themselves', () => {
  test.each([
    ['an unbounded string', { type: 'string' }, 'maxLength'],
    ['an unbounded list', { type: 'array', items: { type: 'integer' } }, 'maxItems'],
    ['a look-ahead', { type: 'string', maxLength: 9, pattern: '^(?=a)' }, 'RE2'],
    ['a pattern that matches inside', { type: 'string', maxLength: 9, pattern: 'a' }, 'anchored'],
    ['a union', { anyOf: [], type: 'object' }, 'anyOf'],
    ['a schema without a type', { type: 'object', properties: { a: {} } }, '.a: type'],
    ['a list of nothing', { type: 'array', maxItems: 1 }, '[]: not a schema'],
    ['an unbounded map', { type: 'object', additionalProperties: { type: 'boolean' } }, 'maxProperties'],
  ])('find %s', (_name, schema, word) => {
    expect(structuralProblems(schema).join()).toContain(word)
  })

  test('find what has no description: properties, list items and map values', () => {
    const described = { type: 'object', description: 'Something.' }
    const schema = {
      ...described,
      properties: {
        a: { type: 'array', description: 'Some.', items: { type: 'string' } },
        b: { ...described, additionalProperties: { type: 'string', description: 'no sentence' } },
        c: { type: 'string', description: '' },
      },
    }
    expect(undescribed(schema)).toEqual(['.a[]', '.b{}', '.c'])
  })
})

test('names, short names and plurals are unique; every kind is in the category of admins, and what tenants may read in theirs', () => {
  const definitions = kinds.map(customResourceDefinition) as {
    metadata: { name: string }
    spec: { names: { shortNames: string[]; categories: string[] } }
  }[]
  const names = definitions.flatMap(definition => [definition.metadata.name, ...definition.spec.names.shortNames])
  expect(new Set(names).size).toBe(names.length)
  for (const definition of definitions) expect(definition.spec.names.categories).toContain('sekisho-platform')
  const listed = kinds.filter((_, index) => definitions[index]?.spec.names.categories.includes('sekisho'))
  expect(listed).toEqual(kinds.filter(({ namespaced }) => namespaced))
  for (const { kind, options } of listed) expect([kind, options.tenantAccess]).not.toEqual([kind, undefined])
})

describe('an immutable kind says so in its schema', () => {
  const rulesOf = (name: string): readonly { rule: string; message: string }[] => {
    const schema = installedSchema(kinds.find(({ kind }) => kind === name) ?? expect.fail())
    return objectAt(schema, 'properties', 'spec')?.['x-kubernetes-validations'] as never
  }
  const keeps = (field: string): string => `has(self.${field}) == has(oldSelf.${field})`

  test('as a whole', () => {
    expect(rulesOf('RepositoryGrant')[0]).toMatchObject({ rule: 'self == oldSelf' })
  })

  test('except a field that is added once', () => {
    const [others, once] = rulesOf('Halt')
    for (const field of ['target', 'reason', 'requestedBy']) expect(others?.rule).toContain(keeps(field))
    expect(others?.rule).not.toContain('lifted')
    expect(once?.rule).toContain(`!has(oldSelf.lifted) || (${keeps('lifted')}`)
  })

  test('except the fields that may change', () => {
    const [others] = rulesOf('Installation')
    expect(others?.message).toBe('spec of Installation cannot change, except standIns')
    for (const field of ['app', 'installationId', 'account', 'boundBy', 'proof', 'ceiling'])
      expect(others?.rule).toContain(keeps(field))
    expect(others?.rule).not.toContain('standIns')
  })
})
