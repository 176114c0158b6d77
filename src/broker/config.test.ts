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

const bucket = {
  SEKISHO_AUDIT_CHECKPOINT_BUCKET: 'audit',
  SEKISHO_AUDIT_CHECKPOINT_BUCKET_ENDPOINT: 'https://s3.example.com',
  SEKISHO_AUDIT_CHECKPOINT_BUCKET_ACCESS_KEY_ID: 'id',
  SEKISHO_AUDIT_CHECKPOINT_BUCKET_SECRET_ACCESS_KEY: 'k3y',
}

test('a bucket for checkpoints is named with all that it needs, or not at all', () => {
  expect(readBrokerSettings(environment).auditBucket).toBeUndefined()
  const settings = readBrokerSettings({ ...environment, ...bucket })
  expect(settings.auditBucket).toMatchObject({ bucket: 'audit', region: 'us-east-1', prefix: 'sekisho-audit/', ca: undefined })
  expect(JSON.stringify(settings)).not.toContain('k3y')
  for (const variable of Object.keys(bucket).slice(1))
    expect(() => readBrokerSettings({ ...environment, ...bucket, [variable]: '' })).toThrow(new RegExp(`${variable} is not set`))
})

test.each([
  ['ENDPOINT', 'http://s3.example.com', 'https'],
  ['PREFIX', '/audit', 'not begin with /'],
  ['CA_PATH', '/nowhere/ca.crt', 'cannot be read'],
])('a bucket with %s=%s is refused by name', (name, value, words) => {
  const variable = `SEKISHO_AUDIT_CHECKPOINT_BUCKET_${name}`
  const read = () => readBrokerSettings({ ...environment, ...bucket, [variable]: value })
  expect(read).toThrow(new RegExp(`${variable}.*${words}`))
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
