import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isNestedDeeper } from './json-depth.ts'

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...Object.values(value).map(depthOf))
}

test('any JSON is deeper than one level less than its own, and not deeper than its own', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), value => {
      const bytes = Buffer.from(JSON.stringify(value))
      const depth = depthOf(value)
      expect(isNestedDeeper(bytes, depth)).toBe(false)
      if (depth > 0) expect(isNestedDeeper(bytes, depth - 1)).toBe(true)
    }),
  )
})

test('brackets in texts do not count', () => {
  expect(isNestedDeeper(Buffer.from(JSON.stringify({ '[[[': '{{{\\"[[[' })), 1)).toBe(false)
})
