// How many workloads wait for an answer, so that what can wait gives way to them.

export type InProgress = {
  /** Counts `work` until it settles, and settles as it does. */
  readonly during: <T>(work: () => Promise<T>) => Promise<T>
  readonly isAny: () => boolean
}

/** Nothing is in progress. */
export function createInProgress(): InProgress {
  let count = 0
  return {
    async during(work) {
      count += 1
      try {
        return await work()
      } finally {
        count -= 1
      }
    },
    isAny: () => count > 0,
  }
}
