// Says to everybody who watches that a grant was approved in an emergency: an Event on it, and a count that stands when the
// approval is withdrawn at once. After the audit log has the decision.
import type { EventRecorder } from '../../../kube/object/events.ts'
import type { Decision } from '../decide.ts'
import type { Facts } from '../gather.ts'
import { usedBreakGlass } from './record-decision.ts'

export type BreakGlassWatchers = {
  readonly events: Pick<EventRecorder, 'record'>
  readonly countBreakGlass: () => void
}

/** For a new ruling; nothing when people approved it, or it is not approved. */
export function announceBreakGlass({ events, countBreakGlass }: BreakGlassWatchers, facts: Facts, { ruling }: Decision): void {
  if (usedBreakGlass(facts, ruling) === undefined) return
  countBreakGlass()
  events.record(facts.object, { type: 'Warning', reason: 'BreakGlass', message: ruling?.message ?? '' })
}
