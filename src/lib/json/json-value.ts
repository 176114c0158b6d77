// Guards for unchecked JSON: webhook bodies, AdmissionReviews, responses of other servers. They report what is there and never
// throw; a caller that requires a field throws the error of its own protocol.

export type JsonObject = { readonly [field: string]: unknown }

/** The parsed value; undefined when the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** True for `{…}`; false for `null`, arrays and scalars. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value itself when it is an object. */
export function asObject(value: unknown): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined
}

/** The object at a path of fields, `value` itself for an empty path; undefined where any step is missing or is not an object. */
export function objectAt(value: unknown, ...path: readonly string[]): JsonObject | undefined {
  return path.reduce<JsonObject | undefined>((found, field) => asObject(found?.[field]), asObject(value))
}

/** The text of a field; undefined when it is missing or is not a text. */
export function textAt(value: JsonObject | undefined, field: string): string | undefined {
  const found = value?.[field]
  return typeof found === 'string' ? found : undefined
}

/** The list of a field; empty when it is missing or is not a list. */
export function listAt(value: JsonObject | undefined, field: string): readonly unknown[] {
  const found = value?.[field]
  return Array.isArray(found) ? found : []
}

/** The objects in the list of a field; other items are left out. */
export function objectsAt(value: JsonObject | undefined, field: string): readonly JsonObject[] {
  return listAt(value, field).filter(isJsonObject)
}

/** The integer of a field that JavaScript holds exactly; undefined for anything else. */
export function integerAt(value: JsonObject | undefined, field: string): number | undefined {
  const found = value?.[field]
  return typeof found === 'number' && Number.isSafeInteger(found) ? found : undefined
}
