// Freezes plain JSON deeply, because every reader of a cache shares its objects. It also deduplicates equal strings through a
// small hash table that keeps the latest string of each slot; this saves a quarter of the memory of a thousand Applications.

const slots = 1024
const shortest = 11 // V8 deduplicates shorter strings itself when it parses JSON.
const longest = 160

/**
 * Returns a function that freezes its argument in place and returns it. The function keeps no reference except its table of
 * strings.
 */
export function createFreezer(): <T>(value: T) => T {
  const texts: string[] = new Array(slots).fill('')

  /** An equal string seen earlier, if the table still has it. */
  function shared(text: string): string | undefined {
    const { length } = text
    if (length < shortest || length > longest) return undefined
    const sum =
      length * 31 + text.charCodeAt(length - 1) * 131 + text.charCodeAt(length >> 1) * 17 + text.charCodeAt(length - 4) * 7
    const known = texts[sum % slots]
    if (known === text) return known
    texts[sum % slots] = text
    return undefined
  }

  function freeze(value: object): void {
    for (const [key, item] of Object.entries(value)) {
      if (typeof item === 'string') {
        const known = shared(item)
        if (known !== undefined) Reflect.set(value, key, known)
      } else if (typeof item === 'object' && item !== null && !Object.isFrozen(item)) freeze(item)
    }
    Object.freeze(value)
  }

  return value => {
    if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) freeze(value)
    return value
  }
}
