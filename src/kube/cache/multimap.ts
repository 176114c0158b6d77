// A map from one text to several, such as from an index value to object keys. A single value is stored without a Set: ten
// thousand sets would take more memory than everything else in an index.

export type Multimap = {
  /** Adding a value twice changes nothing. */
  readonly add: (key: string, value: string) => void
  readonly delete: (key: string, value: string) => void
  /** In the order in which they were added. */
  readonly get: (key: string) => readonly string[]
  /** The number of keys that have at least one value. */
  readonly size: () => number
}

/** An empty multimap. */
export function createMultimap(): Multimap {
  const held = new Map<string, string | Set<string>>()
  return {
    add(key, value) {
      const present = held.get(key)
      if (present === undefined) held.set(key, value)
      else if (typeof present !== 'string') present.add(value)
      else if (present !== value) held.set(key, new Set([present, value]))
    },
    delete(key, value) {
      const present = held.get(key)
      if (present === value) held.delete(key)
      else if (typeof present === 'object' && present.delete(value) && present.size === 0) held.delete(key)
    },
    get(key) {
      const present = held.get(key)
      if (present === undefined) return []
      return typeof present === 'string' ? [present] : [...present]
    },
    size: () => held.size,
  }
}
