// One text per JSON value (RFC 8785 for the values in use: no floats, no undefined): the input of hashes and cache keys.
// Every entry of the audit log passes here twice, so it builds one text and sorts only keys.

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue }

/** Throws TypeError for values without a canonical form: undefined, functions, numbers that are not safe integers. */
export function canonicalJson(value: JsonValue): string {
  switch (typeof value) {
    case 'string':
      return quoted(value)
    case 'boolean':
      return value ? 'true' : 'false'
    case 'number':
      if (!Number.isSafeInteger(value)) throw new TypeError(`not a canonical number: ${value}`)
      return String(value)
    case 'object':
      if (value === null) return 'null'
      return isList(value) ? canonicalList(value) : canonicalObject(value)
    default:
      throw new TypeError(`no canonical form for ${typeof value}`)
  }
}

function isList(value: object): value is readonly JsonValue[] {
  return Array.isArray(value)
}

function canonicalList(list: readonly JsonValue[]): string {
  let text = ''
  for (let index = 0; index < list.length; index++) {
    // A hole in the list is undefined, which throws.
    text += `${index === 0 ? '' : ','}${canonicalJson(list[index] as JsonValue)}`
  }
  return `[${text}]`
}

function canonicalObject(object: { readonly [key: string]: JsonValue }): string {
  let text = ''
  // sort() compares UTF-16 code units, as RFC 8785 §3.2.3 requires.
  for (const key of Object.keys(object).sort()) {
    text += `${text === '' ? '' : ','}${quoted(key)}:${canonicalJson(object[key] as JsonValue)}`
  }
  return `{${text}}`
}

/** Printable ASCII without quote and backslash needs no escaping (RFC 8259 §7). */
const plain = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/

/** A text as JSON. */
export function quoted(text: string): string {
  return plain.test(text) ? `"${text}"` : JSON.stringify(text)
}
