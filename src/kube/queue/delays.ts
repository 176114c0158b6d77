// Keys that come due at moments of their own, on one timer: ten thousand that rest must not cost ten thousand timers.
import { type Clock, elapsed } from '../../lib/clock.ts'

export type Delays<V> = {
  /** `at` in milliseconds of `elapsed`. Of several moments of one key the earliest counts, with its value. */
  readonly set: (key: string, at: number, value: V) => void
  /** Nothing that was set comes due any more. */
  readonly clear: () => void
}

export function createDelays<V>(clock: Clock, onDue: (key: string, value: V) => void): Delays<V> {
  const waiting = new Map<string, { readonly at: number; readonly value: V }>()
  let alarm: { readonly at: number; readonly cancel: AbortController } | undefined

  function setAlarm(at: number): void {
    if (alarm !== undefined && alarm.at <= at) return
    alarm?.cancel.abort()
    const cancel = new AbortController()
    alarm = { at, cancel }
    // A cancelled alarm rejects: that is its whole meaning.
    clock.sleep(Math.max(0, at - elapsed(clock)), cancel.signal).then(ring, () => {})
  }

  function ring(): void {
    // Timers may fire a fraction of a millisecond early.
    const due = Math.max(elapsed(clock), alarm?.at ?? 0)
    alarm = undefined
    let earliest = Number.POSITIVE_INFINITY
    for (const [key, { at, value }] of waiting) {
      if (at > due) earliest = Math.min(earliest, at)
      else if (waiting.delete(key)) onDue(key, value)
    }
    if (earliest < Number.POSITIVE_INFINITY) setAlarm(earliest)
  }

  return {
    set(key, at, value) {
      if ((waiting.get(key)?.at ?? Number.POSITIVE_INFINITY) <= at) return
      waiting.set(key, { at, value })
      setAlarm(at)
    },
    clear() {
      alarm?.cancel.abort()
      waiting.clear()
    },
  }
}
