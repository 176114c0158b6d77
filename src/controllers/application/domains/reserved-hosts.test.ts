// The platform's hosts, and that Applications cannot be on one that shares cookies with them.
import { expect, test } from 'vitest'
import { reservedHostsOf } from './reserved-hosts.ts'

const addresses = {
  publicUrl: new URL('https://sekisho.example.com:8443'),
  apiServerUrl: new URL('https://Kubernetes.example.com:6443'),
  applicationUrl: new URL('https://apps.example.org'),
  reservedHosts: ['www.example.com'],
}

test('the hosts of the platform and those of the setting are reserved', () => {
  expect(reservedHostsOf(addresses)).toEqual(['sekisho.example.com', 'kubernetes.example.com', 'www.example.com'])
})

test.each(['https://sekisho.example.com', 'https://apps.sekisho.example.com', 'https://example.com'])(
  'the platform does not start with Applications below %s',
  url => {
    expect(() => reservedHostsOf({ ...addresses, applicationUrl: new URL(url) })).toThrow(
      expect.objectContaining({ code: 'invalid_configuration', message: expect.stringContaining('SEKISHO_APPLICATION_URL') }),
    )
  },
)

test.each([
  ['https://10.88.0.1:8443', 'http://localhost:8080'],
  ['https://sekisho.example.com', 'https://apps.example.com'],
])('%s and %s may be used together', (publicUrl, applicationUrl) => {
  expect(reservedHostsOf({ ...addresses, publicUrl: new URL(publicUrl), applicationUrl: new URL(applicationUrl) })).toContain(
    new URL(publicUrl).hostname,
  )
})
