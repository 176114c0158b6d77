// Waits for the state of objects by a watch, over connections that end.
import type { KubeObject, ResourceType } from '../../api/resource.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { isExpired, isKubeError } from '../../kube/client/errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'

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
  /** Gets all objects that there are whenever they are listed: an object that is missing is none that changes. */
  readonly answerAll?: (items: readonly T[]) => R | undefined
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
  const first = firstAnswer(watched, items)
  if (first !== undefined) return { answer: first }
  for await (const event of client.watch(type, { namespace, labelSelector, signal, resourceVersion })) {
    const found = event.type === 'BOOKMARK' ? undefined : answer(event.object, event.type === 'DELETED')
    if (found !== undefined) return { answer: found }
  }
  return undefined
}

function firstAnswer<T extends KubeObject, R>({ answer, answerAll }: Watched<T, R>, items: readonly T[]): R | undefined {
  for (const item of items) {
    const found = answer(item, false)
    if (found !== undefined) return found
  }
  return answerAll?.(items)
}

export type Settling<T extends KubeObject> = Pick<Watched<T, T>, 'client' | 'clock' | 'type'> & {
  readonly object: T
  readonly milliseconds: number
  readonly isDone: (object: T) => boolean
}

/** Whether it is gone before the time is over. Rejects with KubeError. */
export async function gone<T extends KubeObject>({
  object,
  milliseconds,
  ...watched
}: Omit<Settling<T>, 'isDone'>): Promise<boolean> {
  const { uid, namespace = '' } = object.metadata
  const signal = AbortSignal.timeout(milliseconds)
  const isIt = ({ metadata }: T): boolean => metadata.uid === uid
  const answer = (found: T, deleted: boolean): true | undefined => (deleted && isIt(found) ? true : undefined)
  const answerAll = (items: readonly T[]): true | undefined => (items.some(isIt) ? undefined : true)
  try {
    return await until({ ...watched, namespace, labelSelector: '', signal, answer, answerAll })
  } catch (error) {
    if (signal.aborted) return false
    throw error
  }
}

/**
 * The object once it is done, or as it was last seen when the time is over: it goes on by itself. Rejects with `conflict` when
 * it is deleted meanwhile, and with KubeError.
 */
export async function settled<T extends KubeObject>({ object, milliseconds, isDone, ...watched }: Settling<T>): Promise<T> {
  const { uid, name, namespace = '' } = object.metadata
  const signal = AbortSignal.timeout(milliseconds)
  const deletion = (): never => {
    throw new AppError('conflict', `${name} was deleted meanwhile`)
  }
  let seen = object
  const answer = (found: T, deleted: boolean): T | undefined => {
    if (found.metadata.uid !== uid) return undefined
    if (deleted) return deletion()
    seen = found
    return isDone(found) ? found : undefined
  }
  const answerAll = (items: readonly T[]): undefined =>
    items.some(({ metadata }) => metadata.uid === uid) ? undefined : deletion()
  try {
    return await until({ ...watched, namespace, labelSelector: '', signal, answer, answerAll })
  } catch (error) {
    if (signal.aborted) return seen
    throw error
  }
}
