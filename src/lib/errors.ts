// The one error type that crosses module borders, and the closed list of its codes. `expose` decides whether clients may read
// the message. A message must never contain a token, a body or a detail of a policy.

/**
 * Every way in which Sekisho refuses or fails. `status` is the HTTP status where the error becomes a response (RFC 9110);
 * `description` is for docs/reference/errors.md.
 */
export const errorCodes = {
  invalid_request: {
    status: 400,
    expose: true,
    description: 'The request has a wrong shape or a wrong value. The message names it.',
  },
  unauthenticated: { status: 401, expose: true, description: 'The request has no valid credential. Sign in (`sekisho login`).' },
  forbidden: { status: 403, expose: true, description: 'The credential is valid, but does not permit the request.' },
  not_found: {
    status: 404,
    expose: true,
    description: 'The object does not exist, or the requester may not know that it exists.',
  },
  conflict: { status: 409, expose: true, description: 'The request contradicts the current state. The message says what to do.' },
  payload_too_large: { status: 413, expose: true, description: 'The body of the request is larger than the endpoint accepts.' },
  too_many_requests: {
    status: 429,
    expose: true,
    description: 'A rate limit or a quota is exhausted. Try again after the seconds in `Retry-After`.',
  },
  invalid_configuration: {
    status: 500,
    expose: false,
    description: 'The settings of the process cannot be used. It does not start; its log names every wrong variable.',
  },
  integrity_violation: {
    status: 500,
    expose: false,
    description:
      'A signature or a hash does not match, or GitHub created a token with more access than requested. Treat it as an attack until explained.',
  },
  log_truncated: {
    status: 500,
    expose: false,
    description:
      'Entries at the end of the audit log are missing that a signed checkpoint attests: lost in a crash, or removed. The entries that are left were not altered.',
  },
  internal: { status: 500, expose: false, description: 'A defect of Sekisho. The log has the details under the request id.' },
  upstream_failed: {
    status: 502,
    expose: false,
    description: 'GitHub refused a request of the platform, or its answer cannot be used.',
  },
  unavailable: {
    status: 503,
    expose: true,
    description: 'GitHub, the database or the API server does not answer, or the process is starting or stopping. Try again.',
  },
} as const satisfies Record<string, { status: number; expose: boolean; description: string }>

export type ErrorCode = keyof typeof errorCodes

export type AppErrorOptions = {
  readonly cause?: unknown
  /** Seconds that the caller should wait before a retry (RFC 9110 §10.2.3). */
  readonly retryAfterSeconds?: number
  /** A stable CamelCase word for conditions and audit records, if there is one. */
  readonly reason?: string
}

/** A refusal or failure that the code expects. */
export class AppError extends Error {
  override readonly name = 'AppError'
  readonly code: ErrorCode
  readonly status: number
  readonly expose: boolean
  readonly retryAfterSeconds: number | undefined
  readonly reason: string | undefined

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.status = errorCodes[code].status
    this.expose = errorCodes[code].expose
    this.retryAfterSeconds = options.retryAfterSeconds
    this.reason = options.reason
  }
}

/** Whether the error is an AppError, and has this code when one is given. */
export function isAppError(error: unknown, code?: ErrorCode): error is AppError {
  return error instanceof AppError && (code === undefined || error.code === code)
}

const codesOfOthers: ReadonlySet<ErrorCode> = new Set([
  'forbidden',
  'not_found',
  'conflict',
  'too_many_requests',
  'upstream_failed',
  'unavailable',
])

/**
 * Whether another system refused or did not answer: an App that was uninstalled, GitHub that limits us, a database that restarts.
 * It is no defect, and its stack helps nobody.
 */
export function isOfOthers(error: unknown): error is AppError {
  return isAppError(error) && codesOfOthers.has(error.code)
}

/** The message of any thrown value, for logs and for errors that wrap it. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
