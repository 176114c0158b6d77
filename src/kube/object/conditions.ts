// Conditions of a status: merging keeps the transition time of a condition whose status did not change. Pure.
// Source: Kubernetes API conventions, "Typical status properties".
import { type Condition, wireTime } from '../../api/resource.ts'

export type WantedCondition = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>

/**
 * The conditions to write: exactly the wanted ones, sorted by type. `lastTransitionTime` changes only when `status` differs
 * from the current one; `observedGeneration` is always `generation`. Of two wanted conditions of one type the last one counts.
 */
export function mergeConditions(
  current: readonly Condition[] | undefined,
  wanted: readonly WantedCondition[],
  generation: number,
  now: Date,
): Condition[] {
  const before = new Map((current ?? []).map(condition => [condition.type, condition]))
  const byType = new Map(wanted.map(condition => [condition.type, condition]))
  return [...byType.values()]
    .map(({ type, status, reason, message }) => {
      const old = before.get(type)
      const lastTransitionTime = old?.status === status ? old.lastTransitionTime : wireTime(now)
      return { type, status, reason, message, lastTransitionTime, observedGeneration: generation }
    })
    .sort((a, b) => (a.type < b.type ? -1 : a.type > b.type ? 1 : 0))
}

/** The condition of this type, if there is one. */
export function findCondition(conditions: readonly Condition[] | undefined, type: string): Condition | undefined {
  return conditions?.find(condition => condition.type === type)
}

/**
 * The newest generation that a status says something about. Ready may be ahead of the rest: it says why a generation could not
 * be carried out.
 */
export function reportedGeneration(
  status: { readonly observedGeneration?: number; readonly conditions?: readonly Condition[] } | undefined,
): number {
  return Math.max(status?.observedGeneration ?? 0, findCondition(status?.conditions, 'Ready')?.observedGeneration ?? 0)
}
