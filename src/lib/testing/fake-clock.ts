// A clock for tests that only advances on request and wakes sleepers in the order of their time. Never used outside tests.
import type { Clock } from '../clock.ts'

export type FakeClock = Clock & {
  /** Advances the time, wakes each sleeper at its own time and lets everything it started settle before the next. */
  readonly advance: (milliseconds: number) => Promise<void>
  /** Changes the wall clock only, as an administrator might. */
  readonly step: (milliseconds: number) => void
  readonly monotonic: () => number
  readonly sleepers: () => number
}

type Sleeper = { readonly at: number; readonly wake: () => void }

/** Waits until every promise that can settle has settled. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise(resolve => setImmediate(resolve))
}

/** A clock that stands at `start`. */
export function createFakeClock(start = Date.parse('2026-01-01T00:00:00Z')): FakeClock {
  const sleepers = new Set<Sleeper>()
  let elapsed = 0
  let stepped = 0
  return {
    now: () => new Date(start + elapsed + stepped),
    monotonic: () => elapsed,
    sleepers: () => sleepers.size,
    step(milliseconds) {
      stepped += milliseconds
    },
    sleep(milliseconds, signal) {
      return new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason)
        const sleeper: Sleeper = { at: elapsed + Math.max(0, milliseconds), wake: resolve }
        sleepers.add(sleeper)
        signal?.addEventListener('abort', () => {
          sleepers.delete(sleeper)
          reject(signal.reason)
        })
      })
    },
    async advance(milliseconds) {
      const end = elapsed + milliseconds
      await settle()
      for (;;) {
        const [next] = [...sleepers].filter(sleeper => sleeper.at <= end).sort((a, b) => a.at - b.at)
        if (next === undefined) break
        elapsed = Math.max(elapsed, next.at)
        sleepers.delete(next)
        next.wake()
        await settle()
      }
      elapsed = end
    },
  }
}
