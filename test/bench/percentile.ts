// The nearest-rank percentile: always a value that was measured. Pure.

/** `rank` from 0 to 100; NaN for no values. */
export function percentile(values: readonly number[], rank: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil((rank / 100) * sorted.length) - 1)] ?? Number.NaN
}
