// Reads metav1.Status, the body of every refusal, into a KubeError, and the Retry-After header. Tolerates anything: a proxy in
// between may answer in its own words. Pure.
import type { ResourceType } from '../../api/resource.ts'
import { KubeError } from './errors.ts'

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
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
export function errorFromAnswer(what: string, type: ResourceType, status: number, body: string, waitSeconds?: number): KubeError {
  let parsed: unknown
  try {
    parsed = JSON.parse(body)
  } catch {
    // No metav1.Status: the status code has to do.
  }
  return errorFromStatus(what, type, parsed, status, waitSeconds)
}

/** Also for the ERROR event of a watch, where the status code is inside the object. */
export function errorFromStatus(
  what: string,
  type: ResourceType,
  body: unknown,
  httpStatus?: number,
  waitSeconds?: number,
): KubeError {
  const { message, reason, code, details } = record(body)
  const { causes, retryAfterSeconds: asked } = record(details)
  const status = httpStatus ?? (typeof code === 'number' ? code : 500)
  const word = typeof reason === 'string' && reason !== '' ? reason : `Status${status}`
  const quiet = type.kind === 'Secret' && type.apiVersion === 'v1' && !quotesNothing.has(status)
  const fields = (Array.isArray(causes) ? causes : []).map(cause => record(cause)['field'])
  const seconds = waitSeconds ?? (typeof asked === 'number' && asked > 0 ? asked : undefined)
  return new KubeError(`${what}: ${status} ${word}${typeof message === 'string' && !quiet ? `: ${message}` : ''}`, {
    status,
    reason: word,
    fields: fields.filter(field => typeof field === 'string'),
    ...(seconds === undefined ? {} : { retryAfterSeconds: seconds }),
  })
}
