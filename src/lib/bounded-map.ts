// A Map that forgets: once it holds more than it may, the entry that was set longest ago goes.

export class BoundedMap<V> extends Map<string, V> {
  readonly #most: number

  constructor(most: number) {
    super()
    this.#most = most
  }

  /** The entry is the youngest from now on, also when there was one with its key. */
  override set(key: string, value: V): this {
    this.delete(key)
    super.set(key, value)
    const [oldest] = this.keys()
    if (this.size > this.#most && oldest !== undefined) this.delete(oldest)
    return this
  }
}
