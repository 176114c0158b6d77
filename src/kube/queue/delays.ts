// Keys with a due time, on one timer: ten thousand delayed keys must not cost ten thousand timers.
import { type Clock, elapsed } from '../../lib/clock.ts'

export type Delays<V> = {
  /** `at` in milliseconds of `elapsed`. Of several times for one key the earliest counts, with its value. */
  readonly set: (key: string, at: number, value: V) => void
  /** Drops everything that was set. */
  readonly clear: () => void
}

/** `onDue` is called once per key, at or after its time. */
export function createDelays<V>(clock: Clock, onDue: (key: string, value: V) => void): Delays<V> {
  const waiting = new Map<string, { readonly at: number; readonly value: V }>()
  let timer: { readonly at: number; readonly cancel: AbortController } | undefined

  function setTimer(at: number): void {
    if (timer !== undefined && timer.at <= at) return
    timer?.cancel.abort()
    const cancel = new AbortController()
    timer = { at, cancel }
    // The sleep rejects when it is cancelled, which needs no handling.
    clock.sleep(Math.max(0, at - elapsed(clock)), cancel.signal).then(fire, () => {})
  }

  function fire(): void {
    // Timers may fire a fraction of a millisecond early.
    const due = Math.max(elapsed(clock), timer?.at ?? 0)
    timer = undefined
    let earliest = Number.POSITIVE_INFINITY
    for (const [key, { at, value }] of waiting) {
      if (at > due) earliest = Math.min(earliest, at)
      else if (waiting.delete(key)) onDue(key, value)
    }
    if (earliest < Number.POSITIVE_INFINITY) setTimer(earliest)
  }

  return {
    set(key, at, value) {
      if ((waiting.get(key)?.at ?? Number.POSITIVE_INFINITY) <= at) return
      waiting.set(key, { at, value })
      setTimer(at)
    },
    clear() {
      timer?.cancel.abort()
      waiting.clear()
    },
  }
}
