// Exponential backoff with full jitter: the wait before attempt n is uniform in [0, min(cap, base·2ⁿ)].
// Source: the AWS Architecture article "Exponential Backoff And Jitter"; client-go does the same for reflectors.

export type BackoffOptions = { readonly baseMilliseconds: number; readonly capMilliseconds: number }

/** The wait in milliseconds. `attempt` counts from 0; `random` returns a number in [0, 1). */
export function fullJitter(options: BackoffOptions, attempt: number, random: () => number): number {
  const ceiling = Math.min(options.capMilliseconds, options.baseMilliseconds * 2 ** Math.min(attempt, 30))
  return Math.floor(random() * ceiling)
}

/** Half fixed, half random, in milliseconds: for retries where a wait of zero would be a busy loop. */
export function equalJitter(options: BackoffOptions, attempt: number, random: () => number): number {
  const ceiling = Math.min(options.capMilliseconds, options.baseMilliseconds * 2 ** Math.min(attempt, 30))
  return Math.floor(ceiling / 2 + (random() * ceiling) / 2)
}
