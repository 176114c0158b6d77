// The format of timestamps. It never reads the clock itself; the clock is a dependency.

/** `2026-01-31T12:00:00Z`: UTC without fractions, as GitHub writes it. `milliseconds` since the epoch. */
export function timestamp(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`
}

export function minutes(count: number): number {
  return count * 60_000
}

export function hours(count: number): number {
  return count * 3_600_000
}

export function days(count: number): number {
  return count * 86_400_000
}
