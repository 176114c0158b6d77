// What an outsider learns of an error: a status, a code, a short text where the error allows it, and the id under which the log has the rest.
// Pure. Never passes on a stack, a cause, a body or the message of an error that was not meant for outside.
import { AppError, type ErrorCode, errorCodes } from '../lib/errors.ts'

export type ErrorAnswer = {
  readonly status: number
  readonly code: ErrorCode
  readonly message: string
  readonly retryAfterSeconds: number | undefined
}

const genericMessages: Readonly<Record<ErrorCode, string>> = {
  invalid_request: 'The request is not understood.',
  unauthenticated: 'Sign in first.',
  forbidden: 'This is not allowed.',
  not_found: 'There is nothing here.',
  conflict: 'This conflicts with what is already there.',
  payload_too_large: 'The request is too large.',
  too_many_requests: 'Too many requests: wait a little.',
  invalid_configuration: 'The platform is not configured correctly; its operator finds more in the log.',
  integrity_violation: 'Something on our side failed; the log has more under this request id.',
  internal: 'Something on our side failed; the log has more under this request id.',
  upstream_failed: 'GitHub did not answer as expected; try again shortly.',
  unavailable: 'Not available right now; try again shortly.',
}

function statusOf(error: unknown): number {
  if (typeof error !== 'object' || error === null || !('statusCode' in error)) return 500
  return typeof error.statusCode === 'number' ? error.statusCode : 500
}

function codeOfStatus(status: number): ErrorCode {
  if (status === 413) return 'payload_too_large'
  if (status === 415) return 'invalid_request'
  const found = Object.entries(errorCodes).find(([, value]) => value.status === status)
  if (found) return found[0] as ErrorCode
  return status >= 400 && status < 500 ? 'invalid_request' : 'internal'
}

/** An upstream of ours (the API server) did not answer, or asked to come again: then the caller may, too. */
function isRetryable(error: unknown): error is Error & { readonly retryable: true } {
  return error instanceof Error && 'retryable' in error && error.retryable === true
}

function waitOf(error: Error): number | undefined {
  return 'retryAfterSeconds' in error && typeof error.retryAfterSeconds === 'number' ? error.retryAfterSeconds : undefined
}

function validationMessage(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('validation' in error) || !Array.isArray(error.validation))
    return undefined
  const [first] = error.validation
  const path = typeof first?.instancePath === 'string' ? first.instancePath.replaceAll('/', '.').replace(/^\./, '') : ''
  const place = 'validationContext' in error && typeof error.validationContext === 'string' ? error.validationContext : 'request'
  return `${place}${path === '' ? '' : `.${path}`} is not valid: ${String(first?.message ?? 'wrong shape').slice(0, 200)}`
}

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
