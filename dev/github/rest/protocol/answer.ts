// Owns: what a REST handler gives back, and the errors of the REST API. Never touches HTTP.

export type RestAnswer = {
  readonly status: number
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export const ok = (body: unknown): RestAnswer => ({ status: 200, body })
export const created = (body: unknown, headers: Readonly<Record<string, string>> = {}): RestAnswer => ({
  status: 201,
  body,
  headers,
})
export const accepted = (body: unknown): RestAnswer => ({ status: 202, body })
export const noContent: RestAnswer = { status: 204 }

export type FieldError = { readonly resource: string; readonly field?: string; readonly code: string; readonly message?: string }

export class RestError extends Error {
  readonly status: number
  readonly errors: readonly FieldError[]
  readonly headers: Readonly<Record<string, string>>
  readonly documentationUrl: string
  constructor(
    status: number,
    message: string,
    errors: readonly FieldError[] = [],
    headers: Readonly<Record<string, string>> = {},
    documentationUrl = 'https://docs.github.com/rest',
  ) {
    super(message)
    this.name = 'RestError'
    this.status = status
    this.errors = errors
    this.headers = headers
    this.documentationUrl = documentationUrl
  }
}

/** A redirect; `url` is absolute. 301 for reading, 307 where the method and body must stay. */
export const moved = (status: 301 | 307, url: string): RestError =>
  new RestError(status, status === 301 ? 'Moved Permanently' : 'Temporary Redirect', [], { location: url })
export const notFound = (): RestError => new RestError(404, 'Not Found')
export const notAccessible = (): RestError => new RestError(403, 'Resource not accessible by integration')
export const requiresAuthentication = (): RestError => new RestError(401, 'Requires authentication')
/** 422 for one field, as GitHub reports it. */
export const invalidField = (
  resource: string,
  field: string,
  code: 'missing' | 'missing_field' | 'invalid' | 'already_exists' | 'custom',
): RestError => new RestError(422, 'Validation Failed', [{ resource, field, code }])

/** The JSON body of an error. https://docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api */
export const errorBody = (error: RestError) => ({
  message: error.message,
  ...(error.errors.length > 0 ? { errors: error.errors } : {}),
  ...(error.headers['location'] === undefined ? {} : { url: error.headers['location'] }),
  documentation_url: error.documentationUrl,
  status: String(error.status),
})
