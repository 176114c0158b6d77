// The order of permission levels, and that it fails closed. The table of levels is GitHub's own description of its API.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { highestLevel, isWithinLevel, levelsOf, lowerLevel, permissionAbove, permissionLevels } from './permission-level.ts'

const level = fc.constantFrom(...permissionLevels)

describe('permission levels', () => {
  test("every permission has the levels of GitHub's description", () => {
    const file = createRequire(import.meta.url).resolve('@octokit/openapi/generated/api.github.com.json')
    const description = JSON.parse(readFileSync(file, 'utf8')) as {
      components: { schemas: { 'app-permissions': { properties: Record<string, { enum: string[] }> } } }
    }
    const { properties } = description.components.schemas['app-permissions']
    expect(Object.keys(properties).length).toBeGreaterThan(40)
    for (const [name, { enum: levels }] of Object.entries(properties)) expect([name, levelsOf(name)]).toEqual([name, levels])
  })

  test('an unknown level is above every limit, and an unknown limit allows nothing', () => {
    expect(isWithinLevel('maintain', 'admin')).toBe(false)
    expect(isWithinLevel('read', 'everything')).toBe(false)
    expect(isWithinLevel('read', undefined)).toBe(false)
    expect(isWithinLevel('write', 'write')).toBe(true)
  })

  test('the order is total, and the lower of two is within both', () => {
    fc.assert(
      fc.property(level, level, (a, b) => {
        expect(isWithinLevel(a, b) || isWithinLevel(b, a)).toBe(true)
        expect(isWithinLevel(lowerLevel(a, b), a) && isWithinLevel(lowerLevel(a, b), b)).toBe(true)
      }),
    )
  })

  test('the first permission above the limit is named; metadata: read never is', () => {
    expect(permissionAbove({ metadata: 'read', contents: 'write' }, { contents: 'read' })).toBe('contents: write')
    expect(permissionAbove({ metadata: 'read', contents: 'read' }, { contents: 'write' })).toBeUndefined()
    expect(permissionAbove({ metadata: 'write' }, {})).toBe('metadata: write')
    expect(permissionAbove({ issues: 'read' }, {})).toBe('issues: read')
  })

  test('what is within a limit stays within it when a permission is dropped', () => {
    const permissions = fc.dictionary(fc.constantFrom('contents', 'issues', 'checks'), level)
    fc.assert(
      fc.property(permissions, permissions, (requested, limit) => {
        if (permissionAbove(requested, limit) !== undefined) return
        for (const name of Object.keys(requested)) {
          const { [name]: _, ...fewer } = requested
          expect(permissionAbove(fewer, limit)).toBeUndefined()
        }
      }),
    )
  })

  test('the highest level of a set', () => {
    expect(highestLevel({ a: 'read', b: 'write' })).toBe('write')
    expect(highestLevel({})).toBeUndefined()
  })
})

test.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])(
  'a permission called %s has the ordinary levels, and is in no limit',
  name => {
    expect(levelsOf(name)).toEqual(['read', 'write'])
    expect(permissionAbove({ [name]: 'read' }, { contents: 'write' })).toBe(`${name}: read`)
  },
)
