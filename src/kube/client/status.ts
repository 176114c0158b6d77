// Reads metav1.Status, the body of every refusal, into a KubeError. Tolerates anything: a proxy in between may answer in its own
// words. Pure.
import type { ResourceType } from '../../api/resource.ts'
import { KubeError } from './errors.ts'

// Refusals of a Secret may quote its data (a failed patch or validation does); these say what is wrong without quoting.
const quotesNothing: ReadonlySet<number> = new Set([401, 403, 404, 405, 409, 410, 429, 503, 504])

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

/** For bodies that may be metav1.Status or anything else. */
export function parsedOrNothing(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * `what` names the request, such as `apply Deployment acme/web`. Without an `answer` (the ERROR event of a watch) the status code inside
 * the body counts.
 */
export function errorFromStatus(
  what: string,
  type: ResourceType,
  body: unknown,
  answer?: { readonly status: number; readonly waitSeconds: number | undefined },
): KubeError {
  const { message, reason, code, details } = record(body)
  const { causes, retryAfterSeconds } = record(details)
  const status = answer?.status ?? (typeof code === 'number' ? code : 500)
  const word = typeof reason === 'string' && reason !== '' ? reason : `Status${status}`
  const quiet = type.kind === 'Secret' && type.apiVersion === 'v1' && !quotesNothing.has(status)
  const fields = (Array.isArray(causes) ? causes : []).map(cause => record(cause)['field'])
  const asked = typeof retryAfterSeconds === 'number' && retryAfterSeconds > 0 ? retryAfterSeconds : undefined
  return new KubeError(`${what}: ${status} ${word}${typeof message === 'string' && !quiet ? `: ${message}` : ''}`, {
    status,
    reason: word,
    fields: fields.filter(field => typeof field === 'string'),
    retryAfterSeconds: answer?.waitSeconds ?? asked,
  })
}
