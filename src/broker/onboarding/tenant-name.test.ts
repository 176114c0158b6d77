import fc from 'fast-check'
import { expect, test } from 'vitest'
import { tenantNameCandidates } from './tenant-name.ts'

test.each([
  ['acme', ['acme', 'acme-7', 'acme-7692c3ad35']],
  ['Acme-Corp', ['acme-corp', 'acme-corp-7', 'acme-corp-7692c3ad35']],
  ['default', ['t-default-7', 't-default-7692c3ad35']],
  ['kube-system', ['t-kube-system-7', 't-kube-system-7692c3ad35']],
  ['sekisho-system', ['t-sekisho-system-7', 't-sekisho-system-7692c3ad35']],
  ['acme-build', ['t-acme-build-7', 't-acme-build-7692c3ad35']],
  ['legacy-', ['legacy', 'legacy-7', 'legacy-7692c3ad35']],
])('%s may be called %j', (login, names) => {
  expect(tenantNameCandidates({ login, id: 7 }, 'one')).toEqual(names)
})

test.each(['cert-manager', 'ArgoCD', 'istio-system', 'velero', 'flux-system', 'openshift-x', 'openshift', 'eks-auth', 'vault'])(
  'an account called %s does not get the namespace of that name',
  login => {
    for (const name of tenantNameCandidates({ login, id: 7 }, 'one')) expect(name).toMatch(/^t-/)
  },
)

test('the last candidate cannot be taken by an account of that name beforehand', () => {
  const last = (id: string) => tenantNameCandidates({ login: 'acme', id: 7 }, id).at(-1)
  expect(last('one')).not.toBe(last('two'))
})

test('every candidate is a DNS label that leaves room for the build namespace, and there always is one', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 100 }), fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), (login, id) => {
      const names = tenantNameCandidates({ login, id }, login)
      expect(names.length).toBeGreaterThan(0)
      for (const name of names) {
        expect(name).toMatch(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/)
        expect(name.length).toBeLessThanOrEqual(57)
        expect(name.endsWith('-build')).toBe(false)
      }
    }),
  )
})
