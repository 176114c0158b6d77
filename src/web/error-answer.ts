// What a client learns about an error: a status, a code, and the message where the error exposes it. Pure. It never includes a
// stack, a cause, a body, or the message of an error that is not meant for clients; the log has those under the request id.
import { AppError, type ErrorCode, errorCodes } from '../lib/errors.ts'
import { asObject, integerAt, textAt } from '../lib/json/json-value.ts'

/** What a client receives. */
export type ErrorAnswer = {
  readonly status: number
  readonly code: ErrorCode
  readonly message: string
  readonly retryAfterSeconds: number | undefined
}

const genericMessages: Readonly<Record<ErrorCode, string>> = {
  invalid_request: 'The request is not valid.',
  unauthenticated: 'Sign in first.',
  forbidden: 'You are not allowed to do this.',
  not_found: 'Not found.',
  conflict: 'The request conflicts with the current state.',
  payload_too_large: 'The request is too large.',
  too_many_requests: 'Too many requests. Try again later.',
  invalid_configuration: 'The platform is not configured correctly. Its operator finds details in the log.',
  integrity_violation: 'Internal error. The log of the platform has details under this request id.',
  log_truncated: 'Internal error. The log of the platform has details under this request id.',
  internal: 'Internal error. The log of the platform has details under this request id.',
  upstream_failed: 'GitHub did not respond as expected. Try again shortly.',
  unavailable: 'Temporarily unavailable. Try again shortly.',
}

function statusOf(error: unknown): number {
  return integerAt(asObject(error), 'statusCode') ?? 500
}

function codeOfStatus(status: number): ErrorCode {
  if (status === 413) return 'payload_too_large'
  if (status === 415) return 'invalid_request'
  const found = Object.entries(errorCodes).find(([, value]) => value.status === status)
  if (found) return found[0] as ErrorCode
  return status >= 400 && status < 500 ? 'invalid_request' : 'internal'
}

/** An upstream (the API server) did not respond or asked for a retry, so the client may retry, too. */
function isRetryable(error: unknown): error is Error & { readonly retryable: true } {
  return error instanceof Error && 'retryable' in error && error.retryable === true
}

function waitOf(error: Error): number | undefined {
  return 'retryAfterSeconds' in error && typeof error.retryAfterSeconds === 'number' ? error.retryAfterSeconds : undefined
}

/** For the validation errors of Fastify: names the field. */
function validationMessage(error: unknown): string | undefined {
  const failure = asObject(error)
  const validation = failure?.['validation']
  if (!Array.isArray(validation)) return undefined
  const first = asObject(validation[0])
  const path = (textAt(first, 'instancePath') ?? '').replaceAll('/', '.').replace(/^\./, '')
  const place = textAt(failure, 'validationContext') ?? 'request'
  const problem = textAt(first, 'message') ?? 'it has the wrong shape'
  return `${place}${path === '' ? '' : `.${path}`} is not valid: ${problem.slice(0, 200)}`
}

/** The status, code and message for a client. The messages of unexpected errors are replaced by general ones. */
export function errorAnswer(error: unknown): ErrorAnswer {
  if (error instanceof AppError) {
    const message = error.expose ? error.message : genericMessages[error.code]
    return { status: error.status, code: error.code, message, retryAfterSeconds: error.retryAfterSeconds }
  }
  if (isRetryable(error)) {
    const { status } = errorCodes.unavailable
    return { status, code: 'unavailable', message: genericMessages.unavailable, retryAfterSeconds: waitOf(error) }
  }
  const invalid = validationMessage(error)
  const status = invalid === undefined ? statusOf(error) : 400
  const code = codeOfStatus(status)
  return { status: errorCodes[code].status, code, message: invalid ?? genericMessages[code], retryAfterSeconds: undefined }
}
