// One run for concurrent equal requests: callers with the same key share the promise in progress. It is not a cache: a settled
// promise is dropped.

/** `work` must not throw synchronously. */
export class SingleFlight<T> {
  readonly #running = new Map<string, Promise<T>>()

  run(key: string, work: () => Promise<T>): Promise<T> {
    const running = this.#running.get(key)
    if (running !== undefined) return running
    const started = work().finally(() => this.#running.delete(key))
    this.#running.set(key, started)
    return started
  }
}
