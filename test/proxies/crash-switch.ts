// Counts the external writes of the process under test, whichever proxy they pass, and fires once at the chosen one: from that
// event-loop turn on no proxy passes anything. A write is identified by what it does and how often that was done, so the order
// of concurrent writes does not matter.

/** The time of the crash: around the `occurrence`-th write (from 1) that is named `write`. */
export type CrashPoint = {
  readonly write: string
  readonly occurrence: number
  /** `after`: the server made the write, the answer is lost. `before`: the request was never sent. */
  readonly when: 'before' | 'after'
}

export type CrashSwitch = {
  /** Called before a write is forwarded; false: do not forward it, the process is dead. */
  readonly mayPass: (write: string) => boolean
  /** Called when the server has made a write; false: do not deliver the answer, the process is dead. */
  readonly mayAnswer: (write: string) => boolean
  readonly dead: () => boolean
  /** Starts counting writes. */
  readonly arm: (point: CrashPoint | undefined, onCrash: () => void) => void
  /** Prevents the crash from now on: writes of an orderly shutdown are not part of the scenario. */
  readonly disarm: () => void
  /** A new process is behind the proxies; writes are still counted, the switch does not fire again. */
  readonly revive: () => void
  /** The writes made since `arm`, in order. */
  readonly writes: () => readonly string[]
  readonly fired: () => boolean
  /** `performance.now()` at the last write. */
  readonly lastWrite: () => number
}

export function createCrashSwitch(): CrashSwitch {
  let point: CrashPoint | undefined
  let crash: () => void = () => {}
  let [armed, dead, fired] = [false, false, false]
  let last = performance.now()
  const done: string[] = []
  const counts = new Map<string, number>()

  function fire(): false {
    dead = true
    fired = true
    crash()
    return false
  }
  const isHere = (write: string, when: CrashPoint['when'], count: number): boolean =>
    armed && !fired && point?.when === when && point.write === write && point.occurrence === count

  return {
    mayPass(write) {
      if (dead) return false
      return isHere(write, 'before', (counts.get(write) ?? 0) + 1) ? fire() : true
    },
    mayAnswer(write) {
      last = performance.now()
      if (armed) {
        done.push(write)
        counts.set(write, (counts.get(write) ?? 0) + 1)
      }
      if (dead) return false
      return isHere(write, 'after', counts.get(write) ?? 0) ? fire() : true
    },
    dead: () => dead,
    arm(next, onCrash) {
      point = next
      crash = onCrash
      armed = true
    },
    disarm() {
      armed = false
    },
    revive() {
      dead = false
    },
    writes: () => done,
    fired: () => fired,
    lastWrite: () => last,
  }
}
