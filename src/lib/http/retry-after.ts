// How long an answer's Retry-After header asks its caller to wait: seconds or a date (RFC 9110 §10.2.3). Pure.

/** Undefined when the header is absent or cannot be read. A date that is over asks for no wait. */
export function retryAfterSeconds(header: string | readonly string[] | undefined, now: Date): number | undefined {
  const text = typeof header === 'string' ? header : header?.[0]
  if (text === undefined) return undefined
  if (/^\d{1,9}$/.test(text)) return Number(text)
  // A date begins with the name of a day; Date.parse would find one in `-3` as well.
  const moment = /^[a-z]/i.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(moment) ? undefined : Math.max(0, Math.ceil((moment - now.getTime()) / 1000))
}
