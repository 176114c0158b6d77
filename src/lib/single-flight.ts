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

type Flight<T> = { readonly ended: Promise<void>; next: Promise<T> | undefined }

/**
 * As `SingleFlight`, for answers that must be of a run which began after they were asked for: whoever asks while one is under way
 * shares the one that follows it. At most one runs for a key.
 */
export class FollowingFlight<T> {
  readonly #flights = new Map<string, Flight<T>>()

  run(key: string, work: () => Promise<T>): Promise<T> {
    const under = this.#flights.get(key)
    if (under === undefined) return this.#begin(key, work)
    under.next ??= under.ended.then(() => this.#begin(key, work))
    return under.next
  }

  #begin(key: string, work: () => Promise<T>): Promise<T> {
    const started = work()
    const end = (): void => {
      if (flight.next === undefined) this.#flights.delete(key)
    }
    const flight: Flight<T> = { ended: started.then(end, end), next: undefined }
    this.#flights.set(key, flight)
    return started
  }
}
