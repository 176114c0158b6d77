// Texts as servers store them. Pure.

/**
 * A copy in which no text has half of a character: UTF-16 in which a pair was cut is no Unicode, and servers store U+FFFD in
 * its place. A value that is compared with what a server stores has to be this one, or they differ for ever.
 */
export function wellFormed<T>(value: T): T {
  if (typeof value === 'string') return value.toWellFormed() as T
  if (Array.isArray(value)) return value.map(wellFormed) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, wellFormed(item)])) as T
}
