import { expect, test } from 'vitest'
import { hasAuthority, portOf } from './provider.ts'
import type { ServiceClass } from './service-class.ts'

const store = (s3: object) => ({ spec: { type: 'bucket', provider: { s3 } } }) as unknown as ServiceClass
const databases = (postgresql: object) => ({ spec: { type: 'postgresql', provider: { postgresql } } }) as unknown as ServiceClass

test.each([
  ['https://s3.test', 443],
  ['http://s3.test', 80],
  ['https://s3.test:9000/', 9000],
  ['http://[fd00::1]:7070', 7070],
  // The URL of a default port names none.
  ['https://s3.test:443', 443],
])('the port of %s', (endpoint, port) => {
  expect(portOf(store({ endpoint }))).toBe(port)
})

test('of databases the class says it itself', () => {
  expect(portOf(databases({ port: 6432, tls: {} }))).toBe(6432)
})

test('an authority of its own', () => {
  expect(hasAuthority(store({ caSecret: { name: 'a' } }))).toBe(true)
  expect(hasAuthority(store({}))).toBe(false)
  expect(hasAuthority(databases({ tls: { caSecret: { name: 'a' } } }))).toBe(true)
  expect(hasAuthority(databases({ tls: {} }))).toBe(false)
})
