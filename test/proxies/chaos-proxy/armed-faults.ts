// The faults that a test has armed, each for a number of uses and with a predicate. The first one that matches is used.
// Independent of what requests and events are.

export type ArmOptions<Facts> = {
  /** Default: everything. */
  readonly match?: (facts: Facts) => boolean
  /** Default: once. `Number.POSITIVE_INFINITY`: until it is disarmed. */
  readonly uses?: number
}

export type Armed = {
  readonly used: () => number
  readonly disarm: () => void
  /** Resolves at the first use. */
  readonly firstUse: Promise<void>
}

export type ArmedFaults<Fault, Facts> = {
  readonly arm: (fault: Fault, options?: ArmOptions<Facts>) => Armed
  readonly take: (facts: Facts) => Fault | undefined
}

export function createArmedFaults<Fault, Facts>(): ArmedFaults<Fault, Facts> {
  const armed = new Set<{ readonly take: (facts: Facts) => Fault | undefined }>()
  return {
    arm(fault, { match = () => true, uses = 1 } = {}) {
      let used = 0
      const first = Promise.withResolvers<void>()
      const entry = {
        take(facts: Facts) {
          if (used >= uses || !match(facts)) return undefined
          used += 1
          first.resolve()
          return fault
        },
      }
      armed.add(entry)
      return { used: () => used, disarm: () => armed.delete(entry), firstUse: first.promise }
    },
    take(facts) {
      for (const entry of armed) {
        const fault = entry.take(facts)
        if (fault !== undefined) return fault
      }
      return undefined
    },
  }
}
