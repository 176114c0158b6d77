// Records Events about objects. Equal Events are counted instead of repeated, the rate per object is limited, and the queue is
// bounded. Recording never throws and never delays a reconcile. An Event may be lost, so it must never be the only record of
// something.
// Source: Event v1 core; limits after client-go's EventCorrelator (25 in a burst, then one per 5 minutes and object) and its
// broadcaster, which queues 1,000 (https://github.com/kubernetes/client-go/blob/master/tools/record/event.go).
import { createHash } from 'node:crypto'
import { type CoreEvent, events } from '../../api/builtin/index.ts'
import type { KubeObject } from '../../api/resource.ts'
import { keyOf, keyText, wireTime } from '../../api/resource.ts'
import { BoundedMap } from '../../lib/bounded-map.ts'
import { type Clock, elapsed } from '../../lib/clock.ts'
import { messageOf } from '../../lib/errors.ts'
import { takeToken } from '../../lib/limits/token-bucket.ts'
import { type Log, redactTokens } from '../../lib/log.ts'
import type { Applied, KubeClient, NewObject } from '../client/client.ts'
import { isKubeError } from '../client/errors.ts'

export type ObjectEvent = {
  readonly type: 'Normal' | 'Warning'
  /** One CamelCase word. */
  readonly reason: string
  readonly message: string
}

export type EventRecorder = {
  /** Queues an Event about the object, or drops it when there are too many. */
  readonly record: (object: KubeObject, event: ObjectEvent) => void
  /** Resolves when everything recorded so far was sent or has failed. */
  readonly flush: () => Promise<void>
}

export type EventRecorderDeps = {
  readonly client: Pick<KubeClient, 'create' | 'apply'>
  readonly clock: Clock
  readonly log: Log
  /** The source of the Events, such as `sekisho-controllers`. */
  readonly component: string
}

type NewEvent = Applied & NewObject<CoreEvent>

const maxMessage = 1024
const rememberedEvents = 4096
const maxQueue = 1000
const perObject = { burst: 25, millisecondsPerToken: 300_000 }

// Memory (Events of a process): Event → its count, or its place in the queue; object → token bucket
//   life: until 4,096 others came; in the queue until it is sent
//   bound: 4,096 Events, 4,096 objects, the oldest forgotten first; 1,000 in the queue, of which more are dropped
//   freshness: none is needed: the API server keeps the Event
//   replicas: each sends its own; a new process counts from one again
/** Sends in the background, one request at a time. */
export function createEventRecorder(deps: EventRecorderDeps): EventRecorder {
  const { client, clock, log, component } = deps
  const seen = new BoundedMap<{ readonly count: number; readonly firstTimestamp: string }>(rememberedEvents)
  const buckets = new BoundedMap<number>(rememberedEvents)
  const waiting = new Map<string, NewEvent>()
  let sending: Promise<void> | undefined

  function withinRate(subject: string): boolean {
    const { reserved, wait } = takeToken(perObject, buckets.get(subject), elapsed(clock))
    if (wait === 0) buckets.set(subject, reserved)
    return wait === 0
  }

  /**
   * To create costs the API server two thirds of an apply, and most Events are new. One of a process before this one has the
   * same name.
   */
  async function write(event: NewEvent): Promise<void> {
    const options = { fieldManager: component }
    const created = event.count === 1 && (await client.create(events, event, options).then(() => true, unlessExists))
    if (!created) await client.apply(events, event, { ...options, force: true })
  }

  async function send(): Promise<void> {
    for (const [key, event] of waiting) {
      waiting.delete(key)
      try {
        await write(event)
      } catch (error) {
        log.debug({ event: key, error: messageOf(error) }, 'failed to write an Event')
      }
    }
    // In the same turn as the end of the loop, so that the next record starts a new run.
    sending = undefined
  }

  return {
    record(object, { type, reason, message: text }) {
      const { apiVersion, kind } = object
      const { name, namespace, uid } = object.metadata
      const message = redactTokens(text).slice(0, maxMessage)
      const metadata = { namespace: namespace ?? 'default', name: eventName(object, type, reason, message) }
      const key = keyText(metadata)
      const subject = uid ?? keyText({ ...metadata, name })
      if (!withinRate(subject) || (!waiting.has(key) && waiting.size >= maxQueue)) {
        log.debug({ object: subject, reason }, 'dropped an Event: too many')
        return
      }
      const lastTimestamp = wireTime(clock.now())
      const { count, firstTimestamp } = seen.get(key) ?? { count: 0, firstTimestamp: lastTimestamp }
      seen.set(key, { count: count + 1, firstTimestamp })
      waiting.set(key, {
        apiVersion: 'v1',
        kind: 'Event',
        metadata,
        involvedObject: { apiVersion, kind, ...keyOf(object), ...(uid === undefined ? {} : { uid }) },
        source: { component },
        reportingComponent: component,
        ...{ type, reason, message, count: count + 1, firstTimestamp, lastTimestamp },
      })
      sending ??= send()
    },
    flush: async () => sending,
  }
}

function unlessExists(error: unknown): false {
  if (!isKubeError(error, 409)) throw error
  return false
}

/** Equal Events about one object have the same name, also from another process, so that they become one Event with a count. */
function eventName({ metadata: { name, uid = '' } }: KubeObject, ...parts: readonly string[]): string {
  const hash = createHash('sha256').update([uid, ...parts].join('\n'))
  const letters = name.toLowerCase().replaceAll(/[^a-z0-9.-]/g, '-')
  const base = letters.slice(0, 200).replaceAll(/^[^a-z0-9]+|[^a-z0-9]+$/g, '')
  return `${base || 'object'}.${hash.digest('hex').slice(0, 16)}`
}
