// A Map with a maximum size: beyond it, the entry that was set longest ago is dropped.

/** `most` is the maximum number of entries. */
export class BoundedMap<V> extends Map<string, V> {
  readonly #most: number

  constructor(most: number) {
    super()
    this.#most = most
  }

  /** The entry becomes the newest, also when the key existed. */
  override set(key: string, value: V): this {
    this.delete(key)
    super.set(key, value)
    const [oldest] = this.keys()
    if (this.size > this.#most && oldest !== undefined) this.delete(oldest)
    return this
  }
}
