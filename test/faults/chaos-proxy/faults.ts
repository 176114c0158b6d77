// The faults that the proxy can play, as data, and the metav1.Status bodies that a real API server sends with them.
// Request faults stand for, or come before, an answer; event faults hit one line of an open watch. Nothing here acts.
import type { RequestFacts } from './request-facts.ts'

export type StatusFault = {
  readonly status: number
  readonly reason: string
  readonly message: string
  readonly retryAfterSeconds?: number
}

export type RequestFault =
  /** Refused by this status; the request does not reach the server. */
  | ({ readonly kind: 'refuse' } & StatusFault)
  /** Forwarded after this time. */
  | { readonly kind: 'slow'; readonly milliseconds: number }
  /** Never answered, and its connection is dead from now on. */
  | { readonly kind: 'half-open' }
  /** Its connection is reset; the request does not reach the server. */
  | { readonly kind: 'reset' }
  /** Forwarded, carried out, and the connection is reset instead of the answer. */
  | { readonly kind: 'lose-answer' }
  /** A watch that the server itself ends after this time, with a bookmark before it. */
  | { readonly kind: 'shorten'; readonly seconds: number }
  /** A list answers with the past of this version; a watch begins there and says nothing until `until` resolves. */
  | { readonly kind: 'stale'; readonly resourceVersion: string; readonly until: Promise<void> }

export type EventFault =
  | { readonly kind: 'drop' }
  | { readonly kind: 'duplicate' }
  /** This event, and all behind it, after what `until` answers with. */
  | { readonly kind: 'late'; readonly until: () => Promise<unknown> }
  /** An ERROR event in its place, then the end. */
  | ({ readonly kind: 'error' } & StatusFault)
  /** Nothing more, and no end. */
  | { readonly kind: 'stall' }
  /** Half of its line, then the end. */
  | { readonly kind: 'truncate' }
  /** The end, in its place. */
  | { readonly kind: 'close' }
  /** This event, then the end. */
  | { readonly kind: 'close-after' }
  | { readonly kind: 'reset' }

export type WatchEventType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'

/** One line of a watch, as far as faults are chosen by it. */
export type EventFacts = {
  readonly watch: RequestFacts
  readonly type: WatchEventType
  readonly namespace: string | undefined
  readonly name: string
  readonly resourceVersion: string
}

/** As a server answers whose history no longer reaches back to the version that was asked for. */
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

/** metav1.Status, as every refusal of an API server is worded. */
export function statusBody(fault: StatusFault): object {
  const { status: code, reason, message, retryAfterSeconds } = fault
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

/** A predicate over the fields that are given; an array means any of these. */
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

/** True for the first of everything that has the same text: "the first write of each object". */
export function firstOfEach<Facts>(text: (facts: Facts) => string): (facts: Facts) => boolean {
  const seen = new Set<string>()
  return facts => {
    const what = text(facts)
    if (seen.has(what)) return false
    seen.add(what)
    return true
  }
}
