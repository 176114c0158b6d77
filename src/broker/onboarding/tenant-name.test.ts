import fc from 'fast-check'
import { expect, test } from 'vitest'
import { tenantNameCandidates } from './tenant-name.ts'

test.each([
  ['acme', ['acme', 'acme-7']],
  ['Acme-Corp', ['acme-corp', 'acme-corp-7']],
  ['default', ['t-default-7']],
  ['kube-system', ['t-kube-system-7']],
  ['sekisho-system', ['t-sekisho-system-7']],
  ['acme-build', ['t-acme-build-7']],
  ['legacy-', ['legacy', 'legacy-7']],
])('%s may be called %j', (login, names) => {
  expect(tenantNameCandidates({ login, id: 7 })).toEqual(names)
})

test('every candidate is a DNS label that leaves room for the build namespace, and there always is one', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 100 }), fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), (login, id) => {
      const names = tenantNameCandidates({ login, id })
      expect(names.length).toBeGreaterThan(0)
      for (const name of names) {
        expect(name).toMatch(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/)
        expect(name.length).toBeLessThanOrEqual(57)
        expect(name.endsWith('-build')).toBe(false)
      }
    }),
  )
})
