// Bytes of transfers pass in turns of the event loop, a few in each. A request for a token needs some dozen turns, and would wait
// in each of them for a piece of every transfer. Pieces pass in the order in which they came, and a transfer holds one at a time:
// round-robin between transfers.

export type LoopTurns = {
  /** Resolves when it is the turn of a piece of so many bytes. Never rejects: whoever does not wait any more ignores it. */
  readonly pass: (bytes: number) => Promise<void>
}

/** Two pieces as the kernel hands them over. */
const bytesPerTurn = 128 * 1024

type Waiting = { readonly bytes: number; readonly resolve: () => void }

// Memory (pieces of the git proxy): pieces that wait for their turn
//   life: until their turn, a few milliseconds
//   bound: two for each transfer, one in each direction
//   freshness: none is needed
//   replicas: each its own
/** `schedule` calls back in the next turn of the event loop. A piece passes at once while the turn has room and none waits. */
export function createLoopTurns(schedule: (work: () => void) => void = setImmediate): LoopTurns {
  const waiting: Waiting[] = []
  let isScheduled = false
  let left = bytesPerTurn

  /** Until a turn in which nothing passed. */
  function scheduleNext(): void {
    if (isScheduled || left === bytesPerTurn) return
    isScheduled = true
    schedule(nextTurn)
  }

  function nextTurn(): void {
    isScheduled = false
    left = bytesPerTurn
    while (left > 0) {
      const next = waiting.shift()
      if (next === undefined) break
      left -= next.bytes
      next.resolve()
    }
    scheduleNext()
  }

  return {
    async pass(bytes) {
      if (left > 0 && waiting.length === 0) {
        left -= bytes
        return scheduleNext()
      }
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting.push({ bytes, resolve })
      return promise
    },
  }
}
