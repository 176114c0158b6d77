// Time that the machine really granted: the wall's, without what it took because processors were contended, at the speed of
// the reference machine.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { machineFactor, maxTimesTheLimit } from './limits.ts'

export type Machine = {
  /** Milliseconds of a clock that nobody sets. */
  readonly now: () => number
  /** Milliseconds since the start of the machine in which some task waited for a processor. */
  readonly contended: () => number
  /** How many times slower than the reference, from 1 to 4. */
  readonly factor: number
  readonly pause: (milliseconds: number) => Promise<unknown>
}

/** Taken before a test replaces the timers of its process. */
const monotonic = performance.now.bind(performance)
const pause = sleep

/** The machine of this process. */
export function thisMachine(): Machine {
  return { now: monotonic, contended: () => contendedMilliseconds(), factor: machineFactor(), pause }
}

/** 0 where the kernel does not count it. https://docs.kernel.org/accounting/psi.html: `total` is in microseconds. */
export function contendedMilliseconds(file = '/proc/pressure/cpu'): number {
  try {
    const total = /^some .*\btotal=(\d+)$/m.exec(readFileSync(file, 'utf8'))?.[1]
    return Number(total ?? 0) / 1000
  } catch {
    return 0
  }
}

export type GrantedTime = {
  /** Whether the limit is used up: never before limit × factor, always from four times the limit. */
  readonly isOver: () => boolean
  /** Seconds since the beginning, on the wall and granted, for an error. */
  readonly spent: () => { readonly wall: number; readonly granted: number }
}

/** Begins now. The time in which processors were contended is added to limit × factor, read when that is reached. */
export function grantTime(limitMilliseconds: number, machine: Machine): GrantedTime {
  const begin = machine.now()
  const contendedBefore = machine.contended()
  const wall = (): number => machine.now() - begin
  const lost = (): number => Math.max(0, machine.contended() - contendedBefore)
  const own = limitMilliseconds * machine.factor
  return {
    isOver() {
      const now = wall()
      return now >= own && now >= Math.min(own + lost(), limitMilliseconds * maxTimesTheLimit)
    },
    spent() {
      const now = wall()
      return { wall: now / 1000, granted: Math.max(0, now - lost()) / machine.factor / 1000 }
    },
  }
}
