// The faults of one webhook delivery, as a plan for the dispatcher. It never sends.
import type { Faults } from '../faults/faults.ts'
import type { FaultOf } from '../faults/kinds.ts'

export type DeliveryPlan = {
  /** Not sent; `record` is what the log shows. */
  readonly lost?: 'nothing' | 'failure' | 'success'
  /** Sent a second time. */
  readonly twice?: 'same guid' | 'new guid'
  /** Milliseconds. */
  readonly later?: number
  /** After the next one, or after this many milliseconds. */
  readonly behindNext?: number
}

type Subject = { readonly event: string; readonly action: string | null }
type SubjectFault = FaultOf<'lost-webhook' | 'doubled-webhook' | 'late-webhook' | 'reordered-webhook'>

const heldFor = 2000

/** Takes the faults that are armed for this delivery. */
export function planDelivery(faults: Faults, subject: Subject): DeliveryPlan {
  const fits = (fault: SubjectFault): boolean =>
    (fault.event === undefined || fault.event === '' || fault.event === subject.event) &&
    (fault.action === undefined || fault.action === '' || fault.action === subject.action)
  const lost = faults.take('lost-webhook', fits)
  if (lost) return { lost: lost.record ?? 'nothing' }
  const doubled = faults.take('doubled-webhook', fits)
  const twice = doubled && { twice: doubled.newGuid ? ('new guid' as const) : ('same guid' as const) }
  const late = faults.take('late-webhook', fits)
  if (late) return { ...twice, later: late.milliseconds }
  const reordered = faults.take('reordered-webhook', fits)
  return { ...twice, ...(reordered ? { behindNext: reordered.milliseconds ?? heldFor } : {}) }
}
