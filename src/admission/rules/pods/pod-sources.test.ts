// What the API server of the tests does not keep, because its feature gates are off.
import { expect, test } from 'vitest'
import type { AdmissionRequest } from '../../review.ts'
import { podSources } from './pod-sources.ts'

const identities = {} as Parameters<typeof podSources.check>[1]

function pod(source: object, operation: 'CREATE' | 'UPDATE' = 'CREATE'): AdmissionRequest {
  const spec = { volumes: [{ name: 'v', projected: { sources: [{ configMap: { name: 'x' } }, source] } }] }
  return { group: '', resource: 'pods', operation, object: { spec } } as unknown as AdmissionRequest
}

test.each([
  { podCertificate: { signerName: 'kubernetes.io/kube-apiserver-client-pod', keyType: 'ED25519' } },
  { clusterTrustBundle: { signerName: 'acme.example/signer', path: 'ca.pem' } },
])('a pod with the projected source %o is refused', source => {
  expect(podSources.check(pod(source), identities)).toMatch(/podCertificate or clusterTrustBundle: remove/)
})

test('other projected sources, and what is changed of a pod that exists, are not refused', () => {
  expect(podSources.check(pod({ serviceAccountToken: { path: 'token' } }), identities)).toBeUndefined()
  expect(podSources.check(pod({ podCertificate: { signerName: 'x' } }, 'UPDATE'), identities)).toBeUndefined()
})
