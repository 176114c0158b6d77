// Reads metav1.Status, the body of every refusal, into a KubeError, and the Retry-After header. Tolerates anything: a proxy in
// between may answer in its own words. Pure.
import type { ResourceType } from '../api/resource.ts'
import { KubeError } from './errors.ts'

type StatusFacts = {
  readonly message: string | undefined
  readonly reason: string | undefined
  readonly code: number | undefined
  readonly fields: readonly string[]
  readonly retryAfterSeconds: number | undefined
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

function statusFacts(body: unknown): StatusFacts {
  const { message, reason, code, details } = record(body)
  const { causes, retryAfterSeconds } = record(details)
  const fields = (Array.isArray(causes) ? causes : []).map(cause => record(cause)['field'])
  return {
    message: typeof message === 'string' ? message : undefined,
    reason: typeof reason === 'string' && reason !== '' ? reason : undefined,
    code: typeof code === 'number' ? code : undefined,
    fields: fields.filter(field => typeof field === 'string'),
    retryAfterSeconds: typeof retryAfterSeconds === 'number' && retryAfterSeconds > 0 ? retryAfterSeconds : undefined,
  }
}

/** RFC 9110 §10.2.3: seconds or a date. Undefined when absent or unreadable. */
export function retryAfterSeconds(header: string | readonly string[] | undefined, now: Date): number | undefined {
  const text = typeof header === 'string' ? header : header?.[0]
  if (text === undefined) return undefined
  if (/^\d{1,9}$/.test(text)) return Number(text)
  const moment = Date.parse(text)
  return Number.isNaN(moment) ? undefined : Math.max(0, Math.ceil((moment - now.getTime()) / 1000))
}

// Refusals of a Secret may quote its data (a failed patch or validation does); these say what is wrong without quoting.
const quotesNothing: ReadonlySet<number> = new Set([401, 403, 404, 405, 409, 410, 429, 503, 504])

/** `what` names the request, such as `apply Deployment acme/web`. */
export function errorFromAnswer(
  what: string,
  type: ResourceType,
  httpStatus: number,
  body: string,
  headerSeconds?: number,
): KubeError {
  let parsed: unknown
  try {
    parsed = JSON.parse(body)
  } catch {
    // No metav1.Status: the status code has to do.
    parsed = undefined
  }
  return errorFromStatus(what, type, parsed, httpStatus, headerSeconds)
}

/** Also for the ERROR event of a watch, where the status code is inside the object. */
export function errorFromStatus(
  what: string,
  type: ResourceType,
  body: unknown,
  httpStatus?: number,
  headerSeconds?: number,
): KubeError {
  const facts = statusFacts(body)
  const status = httpStatus ?? facts.code ?? 500
  const reason = facts.reason ?? `Status${status}`
  const seconds = headerSeconds ?? facts.retryAfterSeconds
  const secret = type.kind === 'Secret' && type.apiVersion === 'v1'
  const words = facts.message !== undefined && (!secret || quotesNothing.has(status)) ? `: ${facts.message}` : ''
  return new KubeError(`${what}: ${status} ${reason}${words}`, {
    status,
    reason,
    fields: facts.fields,
    ...(seconds === undefined ? {} : { retryAfterSeconds: seconds }),
  })
}
