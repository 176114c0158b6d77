// Tells people about an object by Events: equal ones are counted instead of repeated, floods are cut per object, and what is
// waiting is bounded. Recording never throws and never makes a reconcile wait; Events are news, not state.
// Source: Event v1 core; limits after client-go's EventCorrelator (25 in a burst, then one per 5 minutes and object).
import { createHash } from 'node:crypto'
import { events } from '../../api/builtin/index.ts'
import type { KubeObject } from '../../api/resource.ts'
import { keyText, wireTime } from '../../api/resource.ts'
import { BoundedMap } from '../../lib/bounded-map.ts'
import { type Clock, elapsed } from '../../lib/clock.ts'
import { messageOf } from '../../lib/errors.ts'
import { type Log, redactTokens } from '../../lib/log.ts'
import type { Applied, KubeClient } from '../client/client.ts'
import { takeToken } from '../queue/token-bucket.ts'

export type News = {
  readonly type: 'Normal' | 'Warning'
  /** One CamelCase word. */
  readonly reason: string
  readonly message: string
}

export type EventRecorder = {
  readonly record: (object: KubeObject, news: News) => void
  /** Resolves when everything recorded so far was sent or given up. */
  readonly flush: () => Promise<void>
}

export type EventRecorderDeps = {
  readonly client: Pick<KubeClient, 'apply'>
  readonly clock: Clock
  readonly log: Log
  /** Shown as the Event's source, such as `sekisho-controllers`. */
  readonly component: string
}

const longestMessage = 1024
const remembered = 4096
const longestQueue = 200
const perObject = { burst: 25, millisecondsPerToken: 300_000 }

export function createEventRecorder(deps: EventRecorderDeps): EventRecorder {
  const { client, clock, log, component } = deps
  const seen = new BoundedMap<{ readonly count: number; readonly firstTimestamp: string }>(remembered)
  const buckets = new BoundedMap<number>(remembered)
  const waiting = new Map<string, Applied>()
  let sending: Promise<void> | undefined

  function mayTell(about: string): boolean {
    const { promised, wait } = takeToken(perObject, buckets.get(about), elapsed(clock))
    if (wait === 0) buckets.set(about, promised)
    return wait === 0
  }

  async function send(): Promise<void> {
    for (const [key, event] of waiting) {
      waiting.delete(key)
      try {
        await client.apply(events, event, { fieldManager: component, force: true })
      } catch (error) {
        log.debug({ event: key, problem: messageOf(error) }, 'an Event was not written')
      }
    }
    // In the same turn as the end of the loop: what is recorded from now on starts a new run.
    sending = undefined
  }

  return {
    record(object, { type, reason, message: text }) {
      const { apiVersion, kind } = object
      const { name, namespace, uid } = object.metadata
      const message = redactTokens(text).slice(0, longestMessage)
      const metadata = { namespace: namespace ?? 'default', name: eventName(object, type, reason, message) }
      const key = keyText(metadata)
      const about = uid ?? keyText({ ...metadata, name })
      if (!mayTell(about) || (!waiting.has(key) && waiting.size >= longestQueue)) {
        log.debug({ object: about, reason }, 'an Event was dropped: too many')
        return
      }
      const lastTimestamp = wireTime(clock.now())
      const { count, firstTimestamp } = seen.get(key) ?? { count: 0, firstTimestamp: lastTimestamp }
      seen.set(key, { count: count + 1, firstTimestamp })
      waiting.set(key, {
        apiVersion: 'v1',
        kind: 'Event',
        metadata,
        involvedObject: { apiVersion, kind, name, namespace, uid },
        source: { component },
        reportingComponent: component,
        ...{ type, reason, message, count: count + 1, firstTimestamp, lastTimestamp },
      })
      sending ??= send()
    },
    async flush() {
      await sending
    },
  }
}

/** Equal news about the same object have one name, also from another process, so that they meet in one Event. */
function eventName({ metadata: { name, uid = '' } }: KubeObject, ...parts: readonly string[]): string {
  const hash = createHash('sha256').update([uid, ...parts].join('\n'))
  const letters = name.toLowerCase().replaceAll(/[^a-z0-9.-]/g, '-')
  const base = letters.slice(0, 200).replaceAll(/^[^a-z0-9]+|[^a-z0-9]+$/g, '')
  return `${base || 'object'}.${hash.digest('hex').slice(0, 16)}`
}
