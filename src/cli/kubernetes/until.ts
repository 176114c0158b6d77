// Waits for the state of objects by a watch, over connections that end.
import type { KubeObject, ResourceType } from '../../api/resource.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { isExpired, isKubeError } from '../../kube/client/errors.ts'
import type { Clock } from '../../lib/clock.ts'

export type Watched<T extends KubeObject, R> = {
  readonly client: Pick<KubeClient, 'snapshot' | 'watch'>
  readonly clock: Clock
  readonly type: ResourceType<T>
  readonly namespace: string
  readonly labelSelector: string
  readonly signal: AbortSignal
  /**
   * Gets every object whenever it changes, also its last state when it is deleted; the first answer other than undefined ends
   * the wait.
   */
  readonly answer: (object: T, deleted: boolean) => R | undefined
}

const retryMilliseconds = 1000

/** Resolves to the first answer. Rejects with KubeError, or with the reason of the signal. */
export async function until<T extends KubeObject, R>(watched: Watched<T, R>): Promise<R> {
  const { clock, signal } = watched
  for (;;) {
    try {
      const found = await oneRound(watched)
      if (found !== undefined) return found.answer
    } catch (error) {
      signal.throwIfAborted()
      if (!isKubeError(error) || !(error.retryable || isExpired(error))) throw error
      await clock.sleep(retryMilliseconds, signal)
    }
  }
}

/** A list and one watch from it. Resolves to undefined when the server ends the watch. */
async function oneRound<T extends KubeObject, R>(watched: Watched<T, R>): Promise<{ readonly answer: R } | undefined> {
  const { client, type, namespace, labelSelector, signal, answer } = watched
  const { items, resourceVersion } = await client.snapshot(type, { namespace, labelSelector, signal })
  for (const item of items) {
    const found = answer(item, false)
    if (found !== undefined) return { answer: found }
  }
  for await (const event of client.watch(type, { namespace, labelSelector, signal, resourceVersion })) {
    const found = event.type === 'BOOKMARK' ? undefined : answer(event.object, event.type === 'DELETED')
    if (found !== undefined) return { answer: found }
  }
  return undefined
}
