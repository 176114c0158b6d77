import { expect, test } from 'vitest'
import { AppError } from '../lib/errors.ts'
import { errorAnswer } from './error-answer.ts'

test('an error that is meant for clients keeps its message', () => {
  expect(errorAnswer(new AppError('forbidden', 'ask an owner'))).toMatchObject({ status: 403, message: 'ask an owner' })
})

test.each([
  ['an internal AppError', new AppError('upstream_failed', 'GitHub answered 500 to GET /user: secret-host'), 502],
  ['a foreign error', new Error('ECONNREFUSED 10.0.0.7 password=hunter2'), 500],
  ['an upstream that does not answer', Object.assign(new Error('connect ECONNREFUSED 10.0.0.7'), { retryable: true }), 503],
  ['no error at all', 'hunter2', 500],
  ['a body that is too large', Object.assign(new Error('Request body is too large'), { statusCode: 413 }), 413],
  ['an unknown media type', Object.assign(new Error('Unsupported Media Type: x'), { statusCode: 415 }), 400],
])('%s exposes nothing internal', (_name, error, status) => {
  const answer = errorAnswer(error)
  expect(answer.status).toBe(status)
  expect(answer.message).not.toMatch(/secret-host|hunter2|10\.0\.0\.7/)
})

test('the wait that an upstream requests is passed on', () => {
  expect(errorAnswer(Object.assign(new Error('x'), { retryable: true, retryAfterSeconds: 7 })).retryAfterSeconds).toBe(7)
})

test('a field that does not fit its schema is named', () => {
  const error = {
    validation: [{ instancePath: '/installation_id', message: 'must match pattern' }],
    validationContext: 'querystring',
  }
  expect(errorAnswer(error)).toMatchObject({
    status: 400,
    message: 'querystring.installation_id is not valid: must match pattern',
  })
})
