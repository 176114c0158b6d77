// A control plane that the tests cannot use is one sentence with the cure.
import { expect, test } from 'vitest'
import { demandVersion } from './given-test-cluster.ts'

const demand = (body: unknown) => demandVersion('/k', { status: 200, body })

test('the version of the tests and a newer one are accepted', () => {
  expect(demand({ gitVersion: 'v1.35.0' })).toBeUndefined()
  expect(demand({ gitVersion: 'v1.40.1+k3s1' })).toBeUndefined()
})

test('an older one, one that does not say what it is, and one that does not answer', () => {
  expect(() => demand({ gitVersion: 'v1.29.3' })).toThrow(
    /^the cluster of SEKISHO_TEST_KUBECONFIG=\/k is of another version \(v1\.29\.3\) than the tests need \(v?1\.\d+\.\d+ or newer\): upgrade it, or unset /,
  )
  expect(() => demandVersion('/k', { status: 403, body: 'no' })).toThrow('status 403')
  expect(() => demandVersion('/k', 'fetch failed')).toThrow(
    'the cluster of SEKISHO_TEST_KUBECONFIG=/k does not answer (fetch failed): start it, or unset SEKISHO_TEST_KUBECONFIG',
  )
})
