import { expect, test } from 'vitest'
import { readBrokerSettings } from './config.ts'

const environment = {
  SEKISHO_PUBLIC_URL: 'https://sekisho.example.com',
  SEKISHO_GITHUB_CLIENT_SECRET: 's1',
  SEKISHO_GITHUB_WEBHOOK_SECRET: 's2',
  SEKISHO_TLS_CERTIFICATE_PATH: '/tls/tls.crt',
  SEKISHO_TLS_KEY_PATH: '/tls/tls.key',
}

test('reads its settings, with secrets that are not serialised', () => {
  const settings = readBrokerSettings(environment)
  expect(settings.port).toBe(8443)
  expect(settings.accounts).toEqual(new Set())
  expect(JSON.stringify(settings)).not.toContain('s1')
})

test.each([
  ['SEKISHO_PUBLIC_URL', 'http://sekisho.example.com', 'https'],
  ['SEKISHO_PUBLIC_URL', 'https://example.com/sekisho', 'no path'],
  ['SEKISHO_API_SERVER_URL', 'http://10.0.0.1:8080', 'https'],
  ['SEKISHO_ACCOUNTS', 'acme', 'numeric account ids'],
  ['SEKISHO_BROKER_PORT', '99999', 'whole number'],
])('%s=%s is refused by name', (variable, value, words) => {
  expect(() => readBrokerSettings({ ...environment, [variable]: value })).toThrow(new RegExp(`${variable}.*${words}`))
})

test('reports everything that is missing at once', () => {
  let message = ''
  try {
    readBrokerSettings({})
  } catch (error) {
    message = String(error)
  }
  for (const variable of Object.keys(environment)) expect(message).toContain(variable)
})
