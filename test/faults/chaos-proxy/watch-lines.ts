// Passes an open watch on, line by line, and plays the armed event faults on it. It never invents an object: what it sends is what the
// server sent, or an ERROR event that was asked for.
import type { EventFacts, EventFault, WatchEventType } from './faults.ts'
import { statusBody } from './faults.ts'
import type { RequestFacts } from './request-facts.ts'

export type WatchEnd = 'ended' | 'silent' | 'reset'

export type WatchLinesDeps = {
  readonly body: AsyncIterable<Uint8Array>
  readonly watch: RequestFacts
  readonly faultOf: (event: EventFacts) => EventFault | undefined
  readonly send: (text: string) => void
  /** An event was passed on, dropped or replaced. */
  readonly onEvent: (event: EventFacts, fault: EventFault | undefined) => void
}

type Wire = {
  readonly type: WatchEventType
  readonly object?: {
    readonly metadata?: { readonly name?: string; readonly namespace?: string; readonly resourceVersion?: string }
  }
}

function eventFacts(line: string, watch: RequestFacts): EventFacts {
  // The parse boundary: the API server's own words.
  const { type, object } = JSON.parse(line) as Wire
  const { name = '', namespace, resourceVersion = '' } = object?.metadata ?? {}
  return { watch, type, name, namespace, resourceVersion }
}

async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let rest = Buffer.alloc(0)
  for await (const chunk of body) {
    rest = Buffer.concat([rest, chunk])
    for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10)) {
      yield rest.subarray(0, end).toString('utf8')
      rest = rest.subarray(end + 1)
    }
  }
}

/** How the watch ended: by the server or a fault that ends it, by falling silent, or by a reset that the caller has to do. */
export async function passWatchLines(deps: WatchLinesDeps): Promise<WatchEnd> {
  const { watch, send } = deps
  for await (const line of linesOf(deps.body)) {
    const event = eventFacts(line, watch)
    const fault = deps.faultOf(event)
    deps.onEvent(event, fault)
    switch (fault?.kind) {
      case undefined:
        send(`${line}\n`)
        break
      case 'drop':
        break
      case 'duplicate':
        send(`${line}\n${line}\n`)
        break
      case 'late':
        await fault.until()
        send(`${line}\n`)
        break
      case 'error':
        send(`${JSON.stringify({ type: 'ERROR', object: statusBody(fault) })}\n`)
        return 'ended'
      case 'truncate':
        send(line.slice(0, Math.ceil(line.length / 2)))
        return 'ended'
      case 'stall':
        return 'silent'
      case 'close':
        return 'ended'
      case 'close-after':
        send(`${line}\n`)
        return 'ended'
      case 'reset':
        return 'reset'
    }
  }
  return 'ended'
}
