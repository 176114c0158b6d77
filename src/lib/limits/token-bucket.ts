// A token bucket stored as one number: the time up to which its tokens are reserved. A new bucket (undefined) is full. Pure.
// Source: the generic cell rate algorithm, ITU-T I.371 Annex A.

export type Rate = { readonly burst: number; readonly millisecondsPerToken: number }

/** A share of an hourly limit for work that may wait: evenly spread, a twentieth of it at once. */
export function evenlyPerHour(perHour: number): Rate {
  return { burst: Math.max(1, perHour / 20), millisecondsPerToken: 3_600_000 / perHour }
}

/**
 * Reserves one token. `wait` is the milliseconds until it is available, 0 for now. `reserved` is the bucket afterwards; a
 * caller that will not wait keeps the old one instead.
 */
export function takeToken(
  rate: Rate,
  bucket: number | undefined,
  now: number,
): { readonly reserved: number; readonly wait: number } {
  const fullest = now - rate.burst * rate.millisecondsPerToken
  const reserved = Math.max(bucket ?? fullest, fullest) + rate.millisecondsPerToken
  return { reserved, wait: Math.max(0, reserved - now) }
}

/** How many tokens are available now; a fraction is the part of the next one. */
export function tokensIn(rate: Rate, bucket: number | undefined, now: number): number {
  return Math.min(rate.burst, (now - (bucket ?? Number.NEGATIVE_INFINITY)) / rate.millisecondsPerToken)
}
