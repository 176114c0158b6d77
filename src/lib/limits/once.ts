// Work that is done when it is first asked for, and not again.

/** Calls `work` at most once: later calls share its promise, also when that rejects. */
export function once<T>(work: () => Promise<T>): () => Promise<T> {
  let started: Promise<T> | undefined
  return () => {
    started ??= work()
    return started
  }
}
