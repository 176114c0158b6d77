// The class of a reason where its kind is not at hand: a reason has one class, whichever kind says it (class-of-reason.test.ts).
import { kinds } from '../registry.ts'
import type { ReasonClass } from './reason.ts'

const classes: ReadonlyMap<string, ReasonClass> = new Map(
  kinds.flatMap(({ reasons }) => [...reasons].map(([name, reason]) => [name, reason.class] as const)),
)

/** Undefined for a reason that no kind has, as of another version of the platform. */
export function classOfReason(name: string): ReasonClass | undefined {
  return classes.get(name)
}
