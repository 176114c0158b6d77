// How an object is, in words and in a sentence. Pure.
import { classOfReason } from '../../../api/reasons/class-of-reason.ts'
import type { Condition } from '../../../api/resource.ts'
import { type Html, html } from '../../../web/html.ts'
import { readyCondition } from '../home.ts'
import { shortText } from '../table.ts'

type WithState = {
  readonly metadata: { readonly deletionTimestamp?: string }
  readonly status?: { readonly conditions?: readonly Condition[] }
}

const [pending, deleting] = ['Pending', 'Deleting']

/** The reason of the condition Ready. */
export function reasonOf({ metadata, status }: WithState): string {
  if (metadata.deletionTimestamp !== undefined) return deleting
  return shortText(readyCondition(status?.conditions)?.reason ?? pending, 60)
}

/** With the message, when the object is not ready. */
export function stateCell(object: WithState): Html {
  const ready = readyCondition(object.status?.conditions)
  const why =
    ready === undefined || ready.status === 'True' ? undefined : html`<span class="fine">${shortText(ready.message)}</span>`
  return html`<span class="word">${reasonOf(object)}</span> ${why}`
}

/** Whether something is expected to change soon. */
export function isMoving(object: WithState): boolean {
  const reason = reasonOf(object)
  return reason === pending || reason === deleting || classOfReason(reason) === 'progress'
}
