// The errors of this folder: what the API server refused (KubeError), and a write tried by a process that does not lead.
// Messages name verb, kind and key; they never hold a request body, and for Secrets not the server's words about one.
import { redactTokens } from '../../lib/log.ts'

export type KubeErrorFacts = {
  /** The HTTP status; 0 when there was no answer, or none that could be read. */
  readonly status: number
  /** A reason of metav1.Status, or with status 0 one of ours: Unreachable, Silent, TooLarge, Malformed. */
  readonly reason: string
  /** Fields that metav1.Status details name as causes, such as `metadata.uid`. */
  readonly fields?: readonly string[]
  readonly retryAfterSeconds?: number | undefined
  readonly cause?: unknown
}

const longestMessage = 1000
const retryableStatuses: ReadonlySet<number> = new Set([0, 429, 500, 502, 503, 504])

export class KubeError extends Error {
  override readonly name = 'KubeError'
  readonly status: number
  readonly reason: string
  readonly fields: readonly string[]
  readonly retryAfterSeconds: number | undefined

  constructor(message: string, facts: KubeErrorFacts) {
    super(redactTokens(message).slice(0, longestMessage), facts.cause === undefined ? undefined : { cause: facts.cause })
    this.status = facts.status
    this.reason = facts.reason
    this.fields = facts.fields ?? []
    this.retryAfterSeconds = facts.retryAfterSeconds
  }

  /** The same request may succeed later without anybody changing anything. */
  get retryable(): boolean {
    return retryableStatuses.has(this.status)
  }
}

/** A write was refused because another replica leads, or because our own lease could not be renewed in time. */
export class NotLeaderError extends Error {
  override readonly name = 'NotLeaderError'

  constructor(what: string) {
    super(`${what}: refused, this process does not hold the lease`)
  }
}

export function isKubeError(error: unknown, status?: number): error is KubeError {
  return error instanceof KubeError && (status === undefined || error.status === status)
}

/** Whether a resourceVersion is too old to continue from: HTTP 410 `Gone` or `Expired`. */
export function isExpired(error: unknown): boolean {
  return isKubeError(error) && (error.status === 410 || error.reason === 'Expired')
}

/**
 * Whether the answer to an apply that named a uid says that *this* object is gone: 404; 409 (vanished: an apply with a uid
 * never creates); 422 on `metadata.uid` (another object took its name).
 */
export function isGone(error: unknown): boolean {
  if (!isKubeError(error)) return false
  if (error.status === 409) return /uid mismatch/i.test(error.message)
  return error.status === 404 || (error.status === 422 && error.fields.includes('metadata.uid'))
}
