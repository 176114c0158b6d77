// Deep equality of JSON values: the order of keys does not matter, and an undefined field equals an absent one. Pure.
// Every admission review uses it, so it copies nothing.
import { isJsonObject, type JsonObject } from './json-value.ts'

/** Deep equality as the API server sees it. */
export function sameJson(a: unknown, b: unknown): boolean {
  // `===` for 0 and -0, which are the same in JSON; `Object.is` for NaN.
  if (a === b || Object.is(a, b)) return true
  if (Array.isArray(a)) return Array.isArray(b) && sameLists(a, b)
  return isJsonObject(a) && isJsonObject(b) && holdsAllOf(a, b) && hasNoMoreThan(a, b)
}

function sameLists(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false
  for (let index = 0; index < a.length; index++) if (!sameJson(a[index], b[index])) return false
  return true
}

/** Only own fields count; a key such as `constructor` must not be found on the prototype. */
function holdsAllOf(a: JsonObject, b: JsonObject): boolean {
  for (const key of Object.keys(b)) {
    const wanted = b[key]
    if (wanted !== undefined && !(Object.hasOwn(a, key) && sameJson(a[key], wanted))) return false
  }
  return true
}

function hasNoMoreThan(a: JsonObject, b: JsonObject): boolean {
  for (const key of Object.keys(a)) if (a[key] !== undefined && !(Object.hasOwn(b, key) && b[key] !== undefined)) return false
  return true
}
