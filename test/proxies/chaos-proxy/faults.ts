// The faults that the proxy can play, as data, and the metav1.Status bodies that a real API server sends with them.
// Request faults replace or precede an answer; event faults change one line of an open watch.
import type { RequestFacts } from './request-facts.ts'

export type StatusFault = {
  readonly status: number
  /** Of a refusal by an API server; GitHub's have a message only. */
  readonly reason?: string
  readonly message: string
  readonly retryAfterSeconds?: number
  readonly headers?: Readonly<Record<string, string>>
}

export type RequestFault =
  /** Refused with this status; the request does not reach the server. */
  | ({ readonly kind: 'refuse' } & StatusFault)
  /** Forwarded after this time. */
  | { readonly kind: 'slow'; readonly milliseconds: number }
  /** Never answered; its connection carries nothing from now on. */
  | { readonly kind: 'half-open' }
  /** Its connection is reset; the request does not reach the server. */
  | { readonly kind: 'reset' }
  /** Forwarded and executed; the connection is reset instead of the answer. */
  | { readonly kind: 'lose-answer' }
  /** Headers at once, then one byte each second. */
  | { readonly kind: 'slow-body' }
  /** A watch that the server itself ends after this time, after a bookmark. */
  | { readonly kind: 'shorten'; readonly seconds: number }
  /** A list answers with the state of this version; a watch starts there and is silent until `until` resolves. */
  | { readonly kind: 'stale'; readonly resourceVersion: string; readonly until: Promise<void> }

export type EventFault =
  | { readonly kind: 'drop' }
  | { readonly kind: 'duplicate' }
  /** This event and all later ones are delayed until `until` resolves. */
  | { readonly kind: 'late'; readonly until: () => Promise<unknown> }
  /** An ERROR event instead of this one, then the end. */
  | ({ readonly kind: 'error' } & StatusFault)
  /** Nothing more is sent, and the watch does not end. */
  | { readonly kind: 'stall' }
  /** Half of the line, then the end. */
  | { readonly kind: 'truncate' }
  /** The end instead of this event. */
  | { readonly kind: 'close' }
  /** This event, then the end. */
  | { readonly kind: 'close-after' }
  | { readonly kind: 'reset' }

export type WatchEventType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'

/** One line of a watch: the facts by which faults are chosen. */
export type EventFacts = {
  readonly watch: RequestFacts
  readonly type: WatchEventType
  readonly namespace: string | undefined
  readonly name: string
  readonly resourceVersion: string
}

/** The answer of a server whose history does not reach back to the requested version. */
export const expired: StatusFault = { status: 410, reason: 'Expired', message: 'too old resource version: 1 (1000)' }

export const conflict: StatusFault = {
  status: 409,
  reason: 'Conflict',
  message: 'Operation cannot be fulfilled: the object has been modified; please apply your changes to the latest version',
}

export const internalError: StatusFault = { status: 500, reason: 'InternalError', message: 'etcdserver: leader changed' }

export function tooManyRequests(retryAfterSeconds: number): StatusFault {
  return { status: 429, reason: 'TooManyRequests', message: 'too many requests', retryAfterSeconds }
}

/** metav1.Status, the form of every refusal of an API server; without a reason that of GitHub. */
export function statusBody(fault: StatusFault): object {
  const { status: code, reason, message, retryAfterSeconds } = fault
  if (reason === undefined) return { message }
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason,
    code,
    ...(retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds } }),
  }
}

/** A predicate over the given fields; an array matches any of its values. */
export function matching<Wanted extends Readonly<Record<string, unknown>>>(
  wanted: Wanted,
): (facts: { readonly [Field in keyof Wanted]: unknown }) => boolean {
  const fields: (keyof Wanted)[] = Object.keys(wanted)
  return facts =>
    fields.every(field => {
      const value = wanted[field]
      return Array.isArray(value) ? value.includes(facts[field]) : value === facts[field]
    })
}

/** True for the first value of each text: "the first write of each object". */
export function firstOfEach<Facts>(text: (facts: Facts) => string): (facts: Facts) => boolean {
  const seen = new Set<string>()
  return facts => {
    const what = text(facts)
    if (seen.has(what)) return false
    seen.add(what)
    return true
  }
}
