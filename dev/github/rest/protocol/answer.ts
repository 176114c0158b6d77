// The result of a REST handler, and the errors of the REST API. It never touches HTTP.
import { defined } from '../../../../src/lib/json/defined.ts'

export type RestAnswer = {
  readonly status: number
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export function ok(body: unknown): RestAnswer {
  return { status: 200, body }
}

export function created(body: unknown, headers: Readonly<Record<string, string>> = {}): RestAnswer {
  return {
    status: 201,
    body,
    headers,
  }
}

export function accepted(body: unknown): RestAnswer {
  return { status: 202, body }
}

export const noContent: RestAnswer = { status: 204 }

export type FieldError = { readonly resource: string; readonly field?: string; readonly code: string; readonly message?: string }

type ErrorDetails = {
  readonly errors?: readonly FieldError[]
  readonly headers?: Readonly<Record<string, string>>
  readonly documentationUrl?: string
}

export class RestError extends Error {
  readonly status: number
  readonly errors: readonly FieldError[]
  readonly headers: Readonly<Record<string, string>>
  readonly documentationUrl: string
  constructor(status: number, message: string, details: ErrorDetails = {}) {
    super(message)
    this.name = 'RestError'
    this.status = status
    this.errors = details.errors ?? []
    this.headers = details.headers ?? {}
    this.documentationUrl = details.documentationUrl ?? 'https://docs.github.com/rest'
  }
}

/** A redirect; `url` is absolute. 301 for reading, 307 where the method and the body must stay. */
export function moved(status: 301 | 307, url: string): RestError {
  return new RestError(status, status === 301 ? 'Moved Permanently' : 'Temporary Redirect', { headers: { location: url } })
}

export function notFound(): RestError {
  return new RestError(404, 'Not Found')
}

export function notAccessible(): RestError {
  return new RestError(403, 'Resource not accessible by integration')
}

export function requiresAuthentication(): RestError {
  return new RestError(401, 'Requires authentication')
}

/** 422 for one field, as GitHub reports it. */
export function invalidField(
  resource: string,
  field: string,
  code: 'missing' | 'missing_field' | 'invalid' | 'already_exists' | 'custom',
): RestError {
  return new RestError(422, 'Validation Failed', { errors: [{ resource, field, code }] })
}

/** The JSON body of an error. https://docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api */
export function errorBody(error: RestError) {
  return {
    message: error.message,
    ...(error.errors.length > 0 ? { errors: error.errors } : {}),
    ...defined({ url: error.headers['location'] }),
    documentation_url: error.documentationUrl,
    status: String(error.status),
  }
}
