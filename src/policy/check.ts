// The one shape of a decision by a list of checks: facts in, the first refusal out. Pure. A list of named checks reads like the
// specification of the decision; a check that needs other facts gets them by `gather`, never by I/O.

/** What a check says when it does not hold: a reason for machines (CamelCase) and a sentence for people that names the cure. */
export type Refusal = { readonly reason: string; readonly message: string }

/** One thing that must hold. Returns undefined when it does. A check that throws is a defect, never a refusal. */
export type Check<Facts, R extends Refusal = Refusal> = (facts: Facts) => R | undefined

/** The refusal of the first check that does not hold; undefined when all hold. Later checks are not evaluated. */
export function firstRefusal<Facts, R extends Refusal>(checks: readonly Check<Facts, R>[], facts: Facts): R | undefined {
  for (const check of checks) {
    const refusal = check(facts)
    if (refusal !== undefined) return refusal
  }
  return undefined
}
