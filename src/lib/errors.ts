// The one error type that crosses module borders, and the closed list of its codes.
// `expose` decides whether a message may reach the outside; a message never holds a token, a body or a policy detail.

/** Every way Sekisho refuses or fails. Status is the HTTP answer where the error reaches an edge (RFC 9110). */
export const errorCodes = {
  invalid_request: { status: 400, expose: true },
  unauthenticated: { status: 401, expose: true },
  forbidden: { status: 403, expose: true },
  not_found: { status: 404, expose: true },
  conflict: { status: 409, expose: true },
  payload_too_large: { status: 413, expose: true },
  too_many_requests: { status: 429, expose: true },
  invalid_configuration: { status: 500, expose: false },
  integrity_violation: { status: 500, expose: false },
  internal: { status: 500, expose: false },
  upstream_failed: { status: 502, expose: false },
  unavailable: { status: 503, expose: true },
} as const satisfies Record<string, { status: number; expose: boolean }>

export type ErrorCode = keyof typeof errorCodes

export type AppErrorOptions = {
  readonly cause?: unknown
  /** Seconds the caller should wait before it tries again (RFC 9110 §10.2.3). */
  readonly retryAfterSeconds?: number
  /** A stable CamelCase word for conditions and audit records, when there is one. */
  readonly reason?: string
}

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

export function isAppError(error: unknown, code?: ErrorCode): error is AppError {
  return error instanceof AppError && (code === undefined || error.code === code)
}

/** The message of anything thrown, for logs and wrapped errors. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
