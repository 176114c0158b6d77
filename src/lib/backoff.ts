// Exponential backoff: the wait before attempt n is at most min(cap, base·2ⁿ); with full jitter it is uniform below that.
// Source: the AWS Architecture article "Exponential Backoff And Jitter"; client-go does the same for reflectors.

export type BackoffOptions = { readonly baseMilliseconds: number; readonly capMilliseconds: number }

/** Without jitter, in milliseconds: for one asker, or where the times are spread otherwise. `attempt` counts from 0. */
export function exponential({ baseMilliseconds, capMilliseconds }: BackoffOptions, attempt: number): number {
  return Math.min(capMilliseconds, baseMilliseconds * 2 ** Math.min(Math.max(0, attempt), 30))
}

/** The wait in milliseconds. `attempt` counts from 0; `random` returns a number in [0, 1). */
export function fullJitter(options: BackoffOptions, attempt: number, random: () => number): number {
  return Math.floor(random() * exponential(options, attempt))
}

/** Half fixed, half random, in milliseconds: for retries where a wait of zero would be a busy loop. */
export function equalJitter(options: BackoffOptions, attempt: number, random: () => number): number {
  const ceiling = exponential(options, attempt)
  return Math.floor(ceiling / 2 + (random() * ceiling) / 2)
}
