// Several texts for one, such as the keys of an index by value. Most have one, and one stands by itself: a set for each of ten thousand
// values takes more memory than everything else in an index.

export type Multimap = {
  /** Adding what is there already changes nothing. */
  readonly add: (key: string, value: string) => void
  readonly delete: (key: string, value: string) => void
  /** In the order in which they were added. */
  readonly get: (key: string) => readonly string[]
  /** How many keys have a value. */
  readonly size: () => number
}

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
