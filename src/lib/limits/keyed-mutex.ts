// A mutex for each key: work of equal keys runs one after the other, in the order of the calls; different keys do not wait
// for each other.

export type KeyedMutex = {
  /** Runs `work` when all earlier work of the key has settled. Rejects as `work`; a rejection does not stop those that wait. */
  readonly run: <T>(key: string, work: () => Promise<T>) => Promise<T>
}

/** Nobody waits. Bound the number of callers: each waits in memory. */
export function createKeyedMutex(): KeyedMutex {
  const last = new Map<string, Promise<void>>()
  return {
    run(key, work) {
      const mine = (last.get(key) ?? Promise.resolve()).then(work)
      const ended = mine.then(
        () => {},
        () => {},
      )
      last.set(key, ended)
      void ended.then(() => {
        if (last.get(key) === ended) last.delete(key)
      })
      return mine
    },
  }
}
