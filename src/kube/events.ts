// Tells people about an object by Events: equal ones are counted instead of repeated, floods are cut per object, and what is
// waiting is bounded. Recording never throws and never makes a reconcile wait; Events are news, not state.
// Source: Event v1 core; limits after client-go's EventCorrelator (25 in a burst, then one per 5 minutes and object).
import { createHash } from 'node:crypto'
import type { KubeObject } from '../api/resource.ts'
import { keyText } from '../api/resource.ts'
import type { Clock } from '../lib/clock.ts'
import { messageOf } from '../lib/errors.ts'
import { type Log, redactTokens } from '../lib/log.ts'
import { events } from './builtin/core.ts'
import type { Applied, KubeClient } from './client.ts'
import { createRateBuckets } from './rate-buckets.ts'

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

type Remembered = { count: number; readonly firstTimestamp: string }

const longestMessage = 1024
const rememberedEvents = 4096
const waitingEvents = 200

export function createEventRecorder(deps: EventRecorderDeps): EventRecorder {
  const { client, clock, log, component } = deps
  const seen = new Map<string, Remembered>()
  const buckets = createRateBuckets({ clock, burst: 25, perMilliseconds: 300_000, remembered: rememberedEvents })
  const waiting = new Map<string, { readonly namespace: string; readonly name: string; readonly event: Applied }>()
  let sending: Promise<void> | undefined

  function remember(name: string): Remembered {
    const firstTimestamp = `${clock.now().toISOString().slice(0, 19)}Z`
    const known = seen.get(name) ?? { count: 0, firstTimestamp }
    known.count += 1
    // Moves it to the young end: the oldest is forgotten first.
    seen.delete(name)
    seen.set(name, known)
    const [oldest] = seen.keys()
    if (seen.size > rememberedEvents && oldest !== undefined) seen.delete(oldest)
    return known
  }

  async function send(): Promise<void> {
    for (const [key, { namespace, name, event }] of waiting) {
      waiting.delete(key)
      try {
        await client.apply(events, event, { fieldManager: component, force: true })
      } catch (error) {
        log.debug({ namespace, event: name, problem: messageOf(error) }, 'an Event was not written')
      }
    }
    // In the same turn as the end of the loop: what is recorded from now on starts a new run.
    sending = undefined
  }

  return {
    record(object, news) {
      const message = redactTokens(news.message).slice(0, longestMessage)
      const namespace = object.metadata.namespace ?? 'default'
      const name = eventName(object, news.type, news.reason, message)
      const about = object.metadata.uid ?? keyText({ namespace, name: object.metadata.name })
      if (!buckets.take(about)) {
        log.debug({ object: about, reason: news.reason }, 'an Event was dropped: too many for this object')
        return
      }
      const key = `${namespace}/${name}`
      if (!waiting.has(key) && waiting.size >= waitingEvents) {
        log.debug({ object: about, reason: news.reason }, 'an Event was dropped: too many are waiting')
        return
      }
      const { count, firstTimestamp } = remember(key)
      const lastTimestamp = `${clock.now().toISOString().slice(0, 19)}Z`
      const facts = { type: news.type, reason: news.reason, message, count, firstTimestamp, lastTimestamp }
      waiting.set(key, { namespace, name, event: eventObject(object, namespace, name, component, facts) })
      sending ??= send()
    },
    async flush() {
      await sending
    },
  }
}

/** Equal news about the same object have one name, also from another process, so that they meet in one Event. */
function eventName(object: KubeObject, ...parts: readonly string[]): string {
  const { name, uid = '' } = object.metadata
  const hash = createHash('sha256')
    .update([uid, ...parts].join('\n'))
    .digest('hex')
    .slice(0, 16)
  const base = name
    .toLowerCase()
    .replace(/[^a-z0-9.-]/g, '-')
    .slice(0, 200)
    .replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, '')
  return `${base === '' ? 'object' : base}.${hash}`
}

function eventObject(object: KubeObject, namespace: string, name: string, component: string, facts: object): Applied {
  const { metadata } = object
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name, namespace },
    involvedObject: {
      apiVersion: object.apiVersion,
      kind: object.kind,
      name: metadata.name,
      ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
      ...(metadata.uid === undefined ? {} : { uid: metadata.uid }),
    },
    source: { component },
    reportingComponent: component,
    ...facts,
  }
}
