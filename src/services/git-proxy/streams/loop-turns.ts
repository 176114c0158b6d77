// What the git proxy does passes in turns of the event loop that it shares with the token desk: bytes of transfers, and requests
// to begin one, which cost more. A request for a token needs a dozen turns, and would wait in each of them for a piece of every
// transfer. Pieces pass in the order in which they came, and a transfer holds one at a time: round-robin between transfers.

export type LoopTurns = {
  /** Resolves when it is the turn of a piece of so many bytes. Never rejects: whoever does not wait any more ignores it. */
  readonly pass: (bytes: number) => Promise<void>
}

export type LoopTurnOptions = {
  /** True while workloads wait for tokens. */
  readonly isDeskBusy: () => boolean
  /** Calls back in the next turn of the event loop. */
  readonly schedule?: (work: () => void) => void
  /** Calls back after a pause. */
  readonly pause?: (work: () => void) => void
}

/** Two pieces as the kernel hands them over. */
const bytesPerTurn = 128 * 1024
/** Between turns while workloads wait for tokens: all transfers together still have 32 MiB each second. */
const pauseMilliseconds = 4
/** A request to begin keeps the event loop as busy as so many bytes do: some eighty begin each second while workloads wait. */
export const bytesOfAdmission = 3 * bytesPerTurn

type Waiting = { readonly bytes: number; readonly resolve: () => void }

// Memory (pieces of the git proxy): pieces that wait for their turn
//   life: until their turn, a few milliseconds
//   bound: two for each transfer, one in each direction, and one for each request to begin
//   freshness: none is needed
//   replicas: each its own
/** A piece passes at once while the turn has room and none waits. What is larger than a turn takes the next ones too. */
export function createLoopTurns({ isDeskBusy, schedule = setImmediate, pause = inAMoment }: LoopTurnOptions): LoopTurns {
  const waiting: Waiting[] = []
  let isScheduled = false
  let left = bytesPerTurn

  /** Until a turn in which nothing passed. */
  function scheduleNext(): void {
    if (isScheduled || left === bytesPerTurn) return
    isScheduled = true
    if (isDeskBusy()) pause(nextTurn)
    else schedule(nextTurn)
  }

  function nextTurn(): void {
    isScheduled = false
    left = Math.min(bytesPerTurn, left + bytesPerTurn)
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

function inAMoment(work: () => void): void {
  setTimeout(work, pauseMilliseconds)
}
