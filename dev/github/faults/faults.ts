// The armed faults: which ones, for how many uses and until when. It never touches HTTP itself: the code that can misbehave
// takes its faults here. Faults are not part of the state and do not survive a restart.
import { Refusal } from '../state/refusal.ts'
import type { Fault, FaultKind, FaultOf } from './kinds.ts'

export type ArmedFault = {
  readonly id: number
  readonly fault: Fault
  /** Uses that are left; `null` for any number. */
  remaining: number | null
  used: number
  /** Milliseconds since the epoch by the true clock; `null` for no end. */
  readonly until: number | null
}

export type Faults = {
  /** Arms for `times` uses (default 1; `null` for any number) and at most `seconds`, if given. Returns an id. */
  arm(fault: Fault, times?: number | null, seconds?: number): number
  disarm(id: number): boolean
  /** Disarms all faults and accepts refused tokens again. */
  reset(): void
  list(): readonly Readonly<ArmedFault>[]
  /** Uses up one use of the first armed fault of this kind that `matches`; `undefined` when there is none. */
  take<Kind extends FaultKind>(kind: Kind, matches?: (fault: FaultOf<Kind>) => boolean): FaultOf<Kind> | undefined
  /** Milliseconds by which the emulator's clock is wrong now. */
  skew(): number
  /** Refuses the next `uses` uses of the token stored under `tokenKey` with `status`. */
  refuseToken(tokenKey: string, status: 401 | 403, uses: number): void
  /** The status with which to refuse this use of the token, which it uses up; `undefined` when the token is to work. */
  takeRefusal(tokenKey: string): 401 | 403 | undefined
}

function isKind<Kind extends FaultKind>(fault: Fault, kind: Kind): fault is FaultOf<Kind> {
  return fault.kind === kind
}

/** The most faults that may be armed, and the most tokens that may be refused, at once. */
const maxFaults = 100
const maxTokens = 1000

/** Starts with no fault. `now` is the true time. Arming more than 100 at once is refused. */
export function createFaults(now: () => number): Faults {
  let armed: ArmedFault[] = []
  const refused = new Map<string, { readonly status: 401 | 403; uses: number }>()
  let lastId = 0

  const current = (): ArmedFault[] => {
    armed = armed.filter(one => (one.remaining === null || one.remaining > 0) && (one.until === null || one.until > now()))
    return armed
  }

  return {
    arm: (fault, times = 1, seconds) => {
      if (current().length >= maxFaults) throw new Refusal(422, `more than ${maxFaults} faults are armed; disarm some first`)
      lastId += 1
      // A wrong clock is a state and not an event: it has no uses.
      const remaining = fault.kind === 'clock-skew' ? null : times
      armed.push({ id: lastId, fault, remaining, used: 0, until: seconds === undefined ? null : now() + seconds * 1000 })
      return lastId
    },
    disarm: id => {
      const before = current().length
      armed = armed.filter(one => one.id !== id)
      return armed.length < before
    },
    reset: () => {
      armed = []
      refused.clear()
    },
    list: current,
    take: (kind, matches = () => true) => {
      for (const one of current()) {
        const { fault } = one
        if (!isKind(fault, kind) || !matches(fault)) continue
        one.used += 1
        if (one.remaining !== null) one.remaining -= 1
        return fault
      }
      return undefined
    },
    skew: () => current().reduce((sum, { fault }) => sum + (isKind(fault, 'clock-skew') ? fault.seconds * 1000 : 0), 0),
    refuseToken: (tokenKey, status, uses) => {
      const [oldest] = refused.keys()
      if (refused.size >= maxTokens && oldest !== undefined) refused.delete(oldest)
      refused.set(tokenKey, { status, uses })
    },
    takeRefusal: tokenKey => {
      const found = refused.get(tokenKey)
      if (!found) return undefined
      found.uses -= 1
      if (found.uses <= 0) refused.delete(tokenKey)
      return found.status
    },
  }
}
