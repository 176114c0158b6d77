// How an object is, in words with a sign. Pure.
import { classOfReason } from '../../../api/reasons/class-of-reason.ts'
import type { ReasonClass } from '../../../api/reasons/reason.ts'
import type { Condition } from '../../../api/resource.ts'
import { findCondition } from '../../../kube/object/conditions.ts'
import { type Html, html } from '../../../web/html.ts'
import { shortText } from '../table.ts'
import { signed } from './sign.ts'

export type WithState = {
  readonly metadata: { readonly deletionTimestamp?: string }
  readonly status?: { readonly conditions?: readonly Condition[] }
}

const [pending, deleting] = ['Pending', 'Deleting']

/** The condition that says whether an object is ready. */
export function readyCondition(conditions: readonly Condition[] = []): Condition | undefined {
  return findCondition(conditions, 'Ready')
}

/** The reason of the condition Ready. */
export function reasonOf({ metadata, status }: WithState): string {
  if (metadata.deletionTimestamp !== undefined) return deleting
  return shortText(readyCondition(status?.conditions)?.reason ?? pending, 60)
}

/** The class of the reason; of one of another version, by the status of the condition. */
export function classOfState(object: WithState): ReasonClass {
  const reason = reasonOf(object)
  if (reason === pending || reason === deleting) return 'progress'
  const ready = readyCondition(object.status?.conditions)
  // A reason of Ready that is True, whatever it is called, is no failure.
  if (ready?.status === 'True') return classOfReason(reason) === 'intended' ? 'intended' : 'ready'
  return classOfReason(reason) ?? 'machine'
}

/** With the message, when the object is not ready. */
export function stateCell(object: WithState): Html {
  const ready = readyCondition(object.status?.conditions)
  const why =
    ready === undefined || ready.status === 'True' ? undefined : html`<span class="fine">${shortText(ready.message)}</span>`
  return html`${signed(classOfState(object), reasonOf(object))} ${why}`
}

/** Whether something is expected to change soon. */
export function isMoving(object: WithState): boolean {
  return classOfState(object) === 'progress'
}
