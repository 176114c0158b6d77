// Turns many concurrent writes into few transactions: what arrives while one transaction is under way goes together into the next one.
// A write resolves only when its transaction has; a failed transaction rejects every write in it and no other.

export type GroupCommit<Item, Result> = {
  readonly add: (item: Item) => Promise<Result>
  /** Resolves when nothing is under way. */
  readonly idle: () => Promise<void>
}

type Waiting<Item, Result> = {
  readonly item: Item
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

/** `write` gets 1 to `mostItems` items and returns one result for each, in their order. At most `mostWaiting` items wait. */
export function createGroupCommit<Item, Result>(options: {
  readonly mostItems: number
  readonly mostWaiting: number
  readonly write: (items: readonly Item[]) => Promise<readonly Result[]>
  readonly overflow: () => Error
}): GroupCommit<Item, Result> {
  const queue: Waiting<Item, Result>[] = []
  let running: Promise<void> | undefined

  const writeBatch = async (batch: readonly Waiting<Item, Result>[]): Promise<void> => {
    try {
      const results = await options.write(batch.map(waiting => waiting.item))
      batch.forEach((waiting, index) => {
        const result = results[index]
        if (result === undefined) waiting.reject(new Error('a batch returned fewer results than it got items'))
        else waiting.resolve(result)
      })
    } catch (error) {
      for (const waiting of batch) waiting.reject(error)
    }
  }
  const drain = async (): Promise<void> => {
    while (queue.length > 0) await writeBatch(queue.splice(0, options.mostItems))
    running = undefined
  }

  return {
    add(item) {
      if (queue.length >= options.mostWaiting) return Promise.reject(options.overflow())
      return new Promise((resolve, reject) => {
        queue.push({ item, resolve, reject })
        running ??= Promise.resolve().then(drain)
      })
    },
    async idle() {
      while (running !== undefined) await running
    },
  }
}
