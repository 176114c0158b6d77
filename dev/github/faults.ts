// Owns: the switches by which a test makes GitHub misbehave on purpose. Each is armed for a number of uses and spent by use.
// Never touches HTTP itself: the places that can misbehave ask here.

export type Fault =
  /** A REST route answers with this status instead of doing anything. `path` is a prefix below the REST root. */
  | {
      readonly kind: 'rest-status'
      readonly method: string
      readonly path: string
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
    }
  /** Minting returns a token as wide as the installation, whatever was asked. */
  | { readonly kind: 'wider-token' }
  /** A webhook delivery is neither sent nor logged. `event` empty: any event. */
  | { readonly kind: 'lost-webhook'; readonly event: string }

export type ArmedFault = { readonly id: number; readonly fault: Fault; remaining: number }

export type Faults = {
  arm(fault: Fault, times: number): number
  disarm(id: number): boolean
  list(): readonly Readonly<ArmedFault>[]
  /** Spends one use of the first armed fault of this kind that `matches`; `undefined` when there is none. */
  take<Kind extends Fault['kind']>(
    kind: Kind,
    matches?: (fault: Extract<Fault, { kind: Kind }>) => boolean,
  ): Extract<Fault, { kind: Kind }> | undefined
}

const isKind = <Kind extends Fault['kind']>(fault: Fault, kind: Kind): fault is Extract<Fault, { kind: Kind }> =>
  fault.kind === kind

/** Most faults that may be armed at once. */
const mostFaults = 100

/** No fault is armed at first. Arming more than 100 at once throws. */
export const createFaults = (): Faults => {
  const armed: ArmedFault[] = []
  let lastId = 0
  return {
    arm: (fault, times) => {
      if (armed.length >= mostFaults) throw new Error(`more than ${mostFaults} faults armed; disarm some`)
      lastId += 1
      armed.push({ id: lastId, fault, remaining: times })
      return lastId
    },
    disarm: id => {
      const at = armed.findIndex(one => one.id === id)
      if (at >= 0) armed.splice(at, 1)
      return at >= 0
    },
    list: () => armed,
    take: (kind, matches = () => true) => {
      for (const [at, one] of armed.entries()) {
        const { fault } = one
        if (!isKind(fault, kind) || !matches(fault)) continue
        one.remaining -= 1
        if (one.remaining <= 0) armed.splice(at, 1)
        return fault
      }
      return undefined
    },
  }
}
