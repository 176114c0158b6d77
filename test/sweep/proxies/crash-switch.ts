// Counts the external writes of the process under test, whichever proxy they leave by, and fires once at the chosen one: from that turn on
// no proxy passes anything. A write is named by what it does and by how often that was done, so that the order of concurrent writes does not matter.

/** The moment of the crash: around the `occurrence`-th write (from 1) that is named `write`. */
export type CrashPoint = {
  readonly write: string
  readonly occurrence: number
  /** `after`: the outside has done it, its answer is lost. `before`: it never left. */
  readonly when: 'before' | 'after'
}

export type CrashSwitch = {
  /** Asked before a write is passed on; false: it must not be, the process is dead. */
  readonly mayPass: (write: string) => boolean
  /** Told when the outside has done a write; false: the answer must not be delivered, the process is dead. */
  readonly mayAnswer: (write: string) => boolean
  readonly dead: () => boolean
  /** From now on writes count. */
  readonly arm: (point: CrashPoint | undefined, onCrash: () => void) => void
  /** Nothing fires any more: what a process writes while it ends in order is no component of the scenario. */
  readonly disarm: () => void
  /** A new process begins behind the proxies; writes go on being counted, nothing fires again. */
  readonly revive: () => void
  /** What was done since `arm`, in order. */
  readonly writes: () => readonly string[]
  readonly fired: () => boolean
  /** Milliseconds of `performance.now()` when the last write was done. */
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
