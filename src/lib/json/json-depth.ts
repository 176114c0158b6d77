// How deep JSON is nested, before it is parsed: parsing a few megabytes of brackets takes seconds, in which the process does
// nothing else.

const [quote, backslash, openArray, openObject, closeArray, closeObject] = Buffer.from('"\\[{]}')

/** The place of the quote that ends the text which begins after `at`, or the end of all. */
function endOfText(json: Uint8Array, at: number): number {
  let end = at + 1
  while (end < json.length && json[end] !== quote) end += json[end] === backslash ? 2 : 1
  return end
}

/** Whether arrays and objects are nested in more than `levels` levels. For bytes that are not JSON either answer is possible. */
export function isNestedDeeper(json: Uint8Array, levels: number): boolean {
  let depth = 0
  for (let at = 0; at < json.length; at++) {
    const byte = json[at]
    if (byte === quote) at = endOfText(json, at)
    else if (byte === openArray || byte === openObject) depth++
    else if (byte === closeArray || byte === closeObject) depth--
    if (depth > levels) return true
  }
  return false
}
