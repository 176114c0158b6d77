// The errors of this folder: a request that the API server refused or did not answer (KubeError), and a write by a process that
// does not lead. Messages name verb, kind and key; they never contain a request body, nor, for Secrets, a server message that
// could quote data.
import type { ResourceType } from '../../api/resource.ts'
import { asObject, integerAt, objectAt, objectsAt, textAt } from '../../lib/json/json-value.ts'
import { redactTokens } from '../../lib/log.ts'

export type KubeErrorFacts = {
  /** The HTTP status; 0 without a response, or with one that could not be read. */
  readonly status: number
  /** A reason of metav1.Status, or with status 0 one of ours: Unreachable, Silent, TooLarge, Malformed. */
  readonly reason: string
  /** The fields that metav1.Status details name as causes, such as `metadata.uid`. */
  readonly fields?: readonly string[]
  readonly retryAfterSeconds?: number | undefined
  readonly cause?: unknown
}

const maxMessage = 1000
const retryableStatuses: ReadonlySet<number> = new Set([0, 429, 500, 502, 503, 504])
// Statuses whose messages do not quote the object. The message of a failed patch or validation may quote a Secret's data.
const quotesNothing: ReadonlySet<number> = new Set([401, 403, 404, 405, 409, 410, 429, 503, 504])

/** A request without a usable response. The message is cut to 1000 characters, and tokens in it are redacted. */
export class KubeError extends Error {
  override readonly name = 'KubeError'
  readonly status: number
  readonly reason: string
  readonly fields: readonly string[]
  readonly retryAfterSeconds: number | undefined

  constructor(message: string, facts: KubeErrorFacts) {
    super(redactTokens(message).slice(0, maxMessage), facts.cause === undefined ? undefined : { cause: facts.cause })
    this.status = facts.status
    this.reason = facts.reason
    this.fields = facts.fields ?? []
    this.retryAfterSeconds = facts.retryAfterSeconds
  }

  /** True when the same request may succeed later without a change. */
  get retryable(): boolean {
    return retryableStatuses.has(this.status)
  }
}

/** A write was refused because another replica leads, or because this process could not renew its lease in time. */
export class NotLeaderError extends Error {
  override readonly name = 'NotLeaderError'

  constructor(what: string) {
    super(`${what}: refused, this process does not hold the lease`)
  }
}

/** Whether the error is a KubeError, and has this status when one is given. */
export function isKubeError(error: unknown, status?: number): error is KubeError {
  return error instanceof KubeError && (status === undefined || error.status === status)
}

const rbacRefusal =
  / is forbidden: User "[^"]*" cannot (?<verb>[a-z]+) resource "(?<resource>[^"]+)" in API group "(?<group>[^"]*)"(?: in the namespace "(?<namespace>[^"]+)")?(?: at the cluster scope)?(?:: (?<why>.*))?/s

/**
 * What the authorizer did not allow. `resource` has its subresource: `pods/log`; `why` is what the authorizer adds, such as a
 * role that does not exist.
 */
export type MissingRight = { readonly [F in 'verb' | 'resource' | 'group']: string } & {
  readonly namespace: string | undefined
  readonly why: string | undefined
}

/**
 * Whether RBAC refused: right after the rights were given, the same request is allowed a moment later. Quotas, Pod Security and
 * policies answer 403 too, but their messages do not begin like the authorizer's.
 */
export function lacksRight(error: unknown): boolean {
  return isKubeError(error, 403) && / is forbidden: User "[^"]*" cannot /.test(error.message)
}

/** The right that RBAC missed; undefined after any other error, and when the server says it in other words. */
export function missingRight(error: unknown): MissingRight | undefined {
  if (!isKubeError(error) || !lacksRight(error)) return undefined
  const { verb = '', resource = '', group = '', namespace, why } = rbacRefusal.exec(error.message)?.groups ?? {}
  return resource === '' ? undefined : { verb, resource, group, namespace, why }
}

/**
 * Whether an applied object does not fit the schema of its kind: a field that the kind does not have, a value of another type.
 * The API server answers 500 to it, although the same request never succeeds.
 * https://github.com/kubernetes/apimachinery/blob/master/pkg/util/managedfields/internal/structuredmerge.go
 */
export function fitsNoSchema(error: unknown): boolean {
  return isKubeError(error, 500) && error.message.includes('failed to create typed patch object')
}

/** Whether a resourceVersion is too old to continue from: HTTP 410 `Gone` or `Expired`. */
export function isExpired(error: unknown): boolean {
  return isKubeError(error) && (error.status === 410 || error.reason === 'Expired')
}

/**
 * Whether the response to an apply with a uid says that this object does not exist any more: 404; 409 (an apply with a uid never
 * creates); 422 on `metadata.uid` (another object has the name).
 */
export function isGone(error: unknown): boolean {
  if (!isKubeError(error)) return false
  if (error.status === 409) return /uid mismatch/i.test(error.message)
  return error.status === 404 || (error.status === 422 && error.fields.includes('metadata.uid'))
}

/**
 * Reads a metav1.Status, the body of a refusal. Tolerates any body, because a proxy may answer in the server's place. `what`
 * names the request, such as `apply Deployment acme/web`. Without an `answer` (the ERROR event of a watch) the code inside the
 * body counts.
 */
export function errorFromStatus(
  what: string,
  type: ResourceType,
  body: unknown,
  answer?: { readonly status: number; readonly waitSeconds: number | undefined },
): KubeError {
  const object = asObject(body)
  const status = answer?.status ?? integerAt(object, 'code') ?? 500
  const reason = textAt(object, 'reason') || `Status${status}`
  const details = objectAt(object, 'details')
  const mayQuote = type.kind === 'Secret' && type.apiVersion === 'v1' && !quotesNothing.has(status)
  const message = mayQuote ? undefined : textAt(object, 'message')
  const requested = details?.['retryAfterSeconds']
  return new KubeError(`${what}: ${status} ${reason}${message === undefined ? '' : `: ${message}`}`, {
    status,
    reason,
    fields: objectsAt(details, 'causes').flatMap(cause => textAt(cause, 'field') ?? []),
    retryAfterSeconds: answer?.waitSeconds ?? (typeof requested === 'number' && requested > 0 ? requested : undefined),
  })
}
