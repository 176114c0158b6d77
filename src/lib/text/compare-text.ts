// The order of texts for sorting, by their code units: the same on every machine, as timestamps in RFC 3339 need it. Pure.

/** Negative, 0 or positive, as `Array.sort` wants it: equal texts keep the order in which they stand. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
