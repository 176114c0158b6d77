// Forwards an open watch line by line and plays the armed event faults on it. It never invents an object: it sends what the
// server sent, or an ERROR event that the test requested.
import type { EventFacts, EventFault, WatchEventType } from './faults.ts'
import { statusBody } from './faults.ts'
import type { RequestFacts } from './request-facts.ts'

export type WatchEnd = 'ended' | 'silent' | 'reset'

export type WatchLinesDeps = {
  readonly body: AsyncIterable<Uint8Array>
  readonly watch: RequestFacts
  readonly faultOf: (event: EventFacts) => EventFault | undefined
  readonly send: (text: string) => void
  /** Called for every event that was forwarded, dropped or replaced. */
  readonly onEvent: (event: EventFacts, fault: EventFault | undefined) => void
}

type Wire = {
  readonly type: WatchEventType
  readonly object?: {
    readonly metadata?: { readonly name?: string; readonly namespace?: string; readonly resourceVersion?: string }
  }
}

function eventFacts(line: string, watch: RequestFacts): EventFacts {
  // Parse boundary: the line comes from the API server.
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

/** How the watch ended: by the server or a fault that ends it, silently, or by a reset that the caller has to make. */
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
