// Whether two JSON values say the same: the order of keys does not matter, and an undefined field is an absent one. Pure.
// It sits in the path of every admission review, so it makes no copies of what it compares.

type Fields = Readonly<Record<string, unknown>>

/** Deep equality as the API server would see it. */
export function sameJson(a: unknown, b: unknown): boolean {
  // The first is for 0 and -0, which JSON writes alike; the second for NaN, which equals nothing.
  if (a === b || Object.is(a, b)) return true
  if (Array.isArray(a)) return Array.isArray(b) && sameLists(a, b)
  return isFields(a) && isFields(b) && holdsAllOf(a, b) && hasNoMoreThan(a, b)
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function sameLists(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false
  for (let index = 0; index < a.length; index++) if (!sameJson(a[index], b[index])) return false
  return true
}

/** Only own fields count: a key such as `constructor` must not be found on the prototype. */
function holdsAllOf(a: Fields, b: Fields): boolean {
  for (const key of Object.keys(b)) {
    const wanted = b[key]
    if (wanted !== undefined && !(Object.hasOwn(a, key) && sameJson(a[key], wanted))) return false
  }
  return true
}

function hasNoMoreThan(a: Fields, b: Fields): boolean {
  for (const key of Object.keys(a)) if (a[key] !== undefined && !(Object.hasOwn(b, key) && b[key] !== undefined)) return false
  return true
}
