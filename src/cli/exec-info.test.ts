import { expect, test } from 'vitest'
import { askedApiVersion } from './exec-info.ts'

const info = (apiVersion: unknown) => JSON.stringify({ kind: 'ExecCredential', apiVersion, spec: { interactive: false } })

test.each(['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'])(
  'answers in %s when kubectl asks for it',
  version => {
    expect(askedApiVersion(info(version))).toBe(version)
  },
)

test('answers in v1 when it is run by hand', () => {
  expect(askedApiVersion(undefined)).toBe('client.authentication.k8s.io/v1')
})

test.each([info('client.authentication.k8s.io/v1alpha1'), info(1), '{}', 'no JSON'])('refuses %s with the cure', text => {
  expect(() => askedApiVersion(text)).toThrow(/sekisho kubeconfig/)
})
