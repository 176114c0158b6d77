// How an object is, in words and in a sentence. Pure.
import type { Condition } from '../../../api/resource.ts'
import { type Html, html } from '../../../web/html.ts'
import { readyCondition } from '../home.ts'
import { shortText } from '../table.ts'

type WithState = {
  readonly metadata: { readonly deletionTimestamp?: string }
  readonly status?: { readonly conditions?: readonly Condition[] }
}

/** The reason of the condition Ready. */
export function reasonOf({ metadata, status }: WithState): string {
  if (metadata.deletionTimestamp !== undefined) return 'Deleting'
  return shortText(readyCondition(status?.conditions)?.reason ?? 'Pending', 60)
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
  return ['Pending', 'Deleting', 'RollingOut', 'ReleaseJobRunning', 'Queued', 'Fetching', 'Building'].includes(reasonOf(object))
}
