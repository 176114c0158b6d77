// Owns: the form of time in answers. Never reads the clock by itself; the clock is a dependency.

/** `2026-01-31T12:00:00Z`: UTC without fractions, as GitHub writes it. `milliseconds` since the epoch. */
export const timestamp = (milliseconds: number): string => `${new Date(milliseconds).toISOString().slice(0, 19)}Z`

export const seconds = (count: number): number => count * 1000
export const minutes = (count: number): number => count * 60_000
export const hours = (count: number): number => count * 3_600_000
export const days = (count: number): number => count * 86_400_000
