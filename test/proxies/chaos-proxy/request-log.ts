// Every request that reached the proxy, with its outcome, and the queries that tests need.
import type { RequestFacts } from './request-facts.ts'
import { isWrite } from './request-facts.ts'

export type LoggedRequest = RequestFacts & {
  /** Milliseconds of the proxy's monotonic clock: `performance.now()`. */
  readonly at: number
  /** 0 until there is an answer: of a watch its beginning, of everything else all of it. */
  status: number
  /** The kind of the fault that was played on it. */
  fault: string | undefined
  /** Bytes of the answer's body that were sent so far. */
  bytes: number
  /** When the answer was complete or its connection closed. */
  endedAt: number | undefined
  /** resourceVersion of the object that answered a write: the server's own order of writes. */
  answeredVersion: string | undefined
  answeredUid: string | undefined
}

export type RequestLog = {
  readonly add: (facts: RequestFacts) => LoggedRequest
  /** In the order of arrival. `since`: a time of `performance.now()`. */
  readonly entries: (match?: (request: LoggedRequest) => boolean, since?: number) => readonly LoggedRequest[]
  readonly writes: (since?: number) => readonly LoggedRequest[]
  /** Lists, counted by their first page. */
  readonly lists: (resource: string, since?: number) => readonly LoggedRequest[]
  readonly watches: (resource: string, since?: number) => readonly LoggedRequest[]
}

export function createRequestLog(): RequestLog {
  const all: LoggedRequest[] = []
  const entries: RequestLog['entries'] = (match = () => true, since = 0) =>
    all.filter(request => request.at >= since && match(request))
  return {
    add(facts) {
      const request: LoggedRequest = {
        ...facts,
        at: performance.now(),
        status: 0,
        fault: undefined,
        bytes: 0,
        endedAt: undefined,
        answeredVersion: undefined,
        answeredUid: undefined,
      }
      all.push(request)
      return request
    },
    entries,
    writes: since => entries(isWrite, since),
    lists: (resource, since) =>
      entries(request => request.verb === 'list' && request.resource === resource && !request.continues, since),
    watches: (resource, since) => entries(request => request.verb === 'watch' && request.resource === resource, since),
  }
}
