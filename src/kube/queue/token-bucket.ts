// A token bucket that is one number: the moment up to which its tokens are promised. A bucket that nobody took from is full. Pure.
// Source: the generic cell rate algorithm, ITU-T I.371 Annex A.

export type Rate = { readonly burst: number; readonly millisecondsPerToken: number }

/**
 * Takes one token, also one that is not there yet. `wait`: milliseconds until it is; 0 when it is there now. `promised` is the bucket
 * afterwards: who will not wait goes on with the one from before.
 */
export function takeToken(
  rate: Rate,
  bucket: number | undefined,
  now: number,
): { readonly promised: number; readonly wait: number } {
  const fullest = now - rate.burst * rate.millisecondsPerToken
  const promised = Math.max(bucket ?? fullest, fullest) + rate.millisecondsPerToken
  return { promised, wait: Math.max(0, promised - now) }
}
