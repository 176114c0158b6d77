// Turns many concurrent writes into few transactions: items that arrive while transactions are in progress go together into the
// next. An item resolves only when its transaction has committed; a failed transaction rejects every item in it and no other.

/** Takes items in the order in which they were added, and writes them in groups. */
export type GroupCommit<Item, Result> = {
  /** Resolves to the item's result. Rejects with `overflow` when too much is waiting, and when the item's transaction fails. */
  readonly add: (item: Item) => Promise<Result>
  /** Resolves when nothing is in progress. */
  readonly idle: () => Promise<void>
}

type Waiting<Item, Result> = {
  readonly item: Item
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

/** Bounds of a group and of the queue, and how a group is written. */
export type GroupCommitOptions<Item, Result> = {
  readonly maxItems: number
  readonly maxWaiting: number
  /**
   * For items of very different sizes: an item's weight, and the total that may be written together and wait together. A single
   * item is always accepted.
   */
  readonly weight?: { readonly of: (item: Item) => number; readonly maxTogether: number; readonly maxWaiting: number }
  /** One transaction: gets 1 to `maxItems` items and returns one result for each, in their order. */
  readonly write: (items: readonly Item[]) => Promise<readonly Result[]>
  /** The error that refuses an item when too many wait already. */
  readonly overflow: () => Error
  /**
   * For items whose order does not matter: how many transactions may be in progress, and how many items must wait for another
   * one to begin. Without it one transaction at a time, so items are committed in the order in which they were added.
   */
  readonly sideBySide?: { readonly most: number; readonly waiting: number }
}

/** The bounds are those of the options. */
export function createGroupCommit<Item, Result>(options: GroupCommitOptions<Item, Result>): GroupCommit<Item, Result> {
  const { weight, sideBySide = { most: 1, waiting: Number.POSITIVE_INFINITY } } = options
  const weightOf = (item: Item): number => weight?.of(item) ?? 0
  const queue: Waiting<Item, Result>[] = []
  let waitingWeight = 0
  const writers = new Set<Promise<void>>()

  const isFull = (item: Item): boolean =>
    queue.length >= options.maxWaiting ||
    (weight !== undefined && queue.length > 0 && waitingWeight + weightOf(item) > weight.maxWaiting)

  const nextBatch = (): readonly Waiting<Item, Result>[] => {
    let count = 0
    let together = 0
    for (const { item } of queue) {
      together += weightOf(item)
      if (count === options.maxItems || (count > 0 && weight !== undefined && together > weight.maxTogether)) break
      count += 1
    }
    const batch = queue.splice(0, count)
    for (const { item } of batch) waitingWeight -= weightOf(item)
    return batch
  }
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
  /** The last writer goes on until nothing waits; any other ends when what waits is little. */
  const begin = (): void => {
    const writer: Promise<void> = Promise.resolve().then(async () => {
      while (queue.length >= (writers.size > 1 ? sideBySide.waiting : 1)) await writeBatch(nextBatch())
      writers.delete(writer)
    })
    writers.add(writer)
  }
  const isWriterMissing = (): boolean =>
    writers.size === 0 || (writers.size < sideBySide.most && queue.length >= sideBySide.waiting)

  return {
    add(item) {
      if (isFull(item)) return Promise.reject(options.overflow())
      return new Promise((resolve, reject) => {
        queue.push({ item, resolve, reject })
        waitingWeight += weightOf(item)
        if (isWriterMissing()) begin()
      })
    },
    async idle() {
      while (writers.size > 0) await Promise.all(writers)
    },
  }
}
