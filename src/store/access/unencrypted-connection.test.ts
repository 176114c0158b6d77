// Which database URLs are named at the start, and that no part of them is in the text.
import { expect, test } from 'vitest'
import type { LogFields } from '../../lib/log.ts'
import { SecretString } from '../../lib/secret-string.ts'
import { logUnencrypted, unencryptedProblem } from './unencrypted-connection.ts'

const named = (text: string) => ({ variable: 'SEKISHO_DATABASE_URL', url: new SecretString(text) })

test.each([
  'postgresql://sekisho:s3cret@db.example.com/paas',
  'postgres://sekisho:s3cret@10.0.0.5:5432/paas?application_name=x',
  'postgresql://sekisho:s3cret@127.db.example.com/paas',
  'postgresql://sekisho:s3cret@localhost/paas?host=db.example.com',
  'postgresql://sekisho:s3cret@[2001:db8::1]/paas',
])('%s is named with the setting and the cure, without a part of it', text => {
  const problem = unencryptedProblem(named(text))
  expect(problem).toMatch(/^SEKISHO_DATABASE_URL has no sslmode.*sslmode=verify-full/)
  expect(problem).not.toMatch(/s3cret|db\.example|paas/)
})

test.each([
  'postgresql://sekisho:s3cret@db.example.com/paas?sslmode=verify-full',
  'postgresql://sekisho:s3cret@db.example.com/paas?sslmode=disable',
  'postgresql://sekisho:s3cret@localhost:5433/paas',
  'postgresql://sekisho:s3cret@127.0.0.1/paas',
  'postgresql://sekisho:s3cret@[::1]/paas',
  'postgresql://sekisho:s3cret@db.example.com/paas?host=/run/postgresql',
  'postgresql://sekisho:s3cret@%2Frun%2Fpostgresql/paas',
  'postgresql:///paas',
  'not a URL',
])('%s is not', text => {
  expect(unencryptedProblem(named(text))).toBeUndefined()
})

test('there is one line for each setting at fault', () => {
  const lines: (readonly [LogFields, string])[] = []
  const connections = [
    named('postgresql://a:b@db/paas'),
    { ...named('postgresql://a:b@db/paas'), variable: 'SEKISHO_AUDIT_DATABASE_URL' },
    named('postgresql://a:b@localhost/paas'),
  ]
  logUnencrypted(connections, { error: (fields, message) => void lines.push([fields, message]) })
  expect(lines.map(([{ variable }]) => variable)).toEqual(['SEKISHO_DATABASE_URL', 'SEKISHO_AUDIT_DATABASE_URL'])
})
