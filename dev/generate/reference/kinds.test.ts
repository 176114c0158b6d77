// The examples of the reference keep their schemas; test/integration/crds.test.ts shows them to an API server, with defaults
// and rules.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { kinds } from '../../../src/api/registry.ts'
import { asObject, isJsonObject } from '../../../src/lib/json/json-value.ts'
import { examplePath, installedSchema, kindsPage } from './kinds.ts'

const root = join(import.meta.dirname, '../../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

/** The schema with unknown fields refused, as kubectl refuses them. */
function strict(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(strict)
  if (!isJsonObject(schema)) return schema
  const inner = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, strict(value)]))
  return 'properties' in schema ? { ...inner, additionalProperties: false } : inner
}

const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true })

test.each(kinds.map(kind => [kind.kind, kind] as const))('%s has an example that keeps its schema', (name, kind) => {
  const example = asObject(parse(read(examplePath(name))))
  expect(example).toMatchObject({ apiVersion: kind.apiVersion, kind: name })
  const validate = ajv.compile(strict(installedSchema(kind)) as object)
  expect(validate(example), JSON.stringify(validate.errors)).toBe(true)
  const spec = asObject(example?.['spec'])
  expect(validate({ ...example, spec: { ...spec, unknown: 1 } })).toBe(false)
})

describe('the page', () => {
  const page = kindsPage(read)

  test('fails when an example is of another kind', () => {
    expect(() => kindsPage(() => 'kind: Pod')).toThrow('is not a Tenant')
  })

  test('shows bounds, choices, defaults, rules and reasons', () => {
    for (const row of [
      '| `spec.processes[].port` | integer, 1–65535 |',
      '| `spec.subjects[].kind` | `ServiceAccount`',
      '| `spec.delivery` | `TokenEndpoint`, `GitProxy` or `Secret` |  | `"TokenEndpoint"` |',
      '| `spec.delivery` | not in this version: use TokenEndpoint or GitProxy or Secret |',
      '| `status.conditions[].lastTransitionTime` | time (RFC 3339) |',
      '| `WaitingForImage` |',
      '| `read-contents` | allows up to `read` |',
    ])
      expect(page).toContain(row)
  })

  test('does not demand what admission fills in', () => {
    expect(page).toMatch(/\| `spec.requestedBy` \| string, 1–512 characters \| {2}\|/)
  })
})
