// The wait that a response's Retry-After header requests: seconds or a date (RFC 9110 §10.2.3). Pure.

/** Undefined when the header is absent or not valid; 0 for a date in the past. */
export function retryAfterSeconds(header: string | readonly string[] | undefined, now: Date): number | undefined {
  const text = typeof header === 'string' ? header : header?.[0]
  if (text === undefined) return undefined
  if (/^\d{1,9}$/.test(text)) return Number(text)
  // A date begins with the name of a day; Date.parse also accepts texts such as `-3`.
  const date = /^[a-z]/i.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - now.getTime()) / 1000))
}
