// What each caller spends of GitHub's limits, as the emulator in this process sees it: every request by the credential that it
// carries. It asks Node, so that no proxy is in the way.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { RunningEmulator } from '../../../dev/github/emulator.ts'
import { callerOf } from '../../../dev/github/rest/protocol/rate-limit.ts'
import { authenticate } from '../../../dev/github/tokens/authenticate.ts'

export type Spent = {
  /** GitHub counts neither 304 nor questions about the limits themselves. */
  readonly counted: number
  readonly all: number
}

export type Spending = {
  /** By `callerOf`, such as `installation ID 17`. */
  readonly byCaller: ReadonlyMap<string, Spent>
  /** Answers 403 and 429: GitHub refuses by its limits with these. */
  readonly refused: () => number
  readonly close: () => void
}

// https://nodejs.org/api/diagnostics_channel.html#http
const started = 'http.server.request.start'
const finished = 'http.server.response.finish'
const refusals: ReadonlySet<number> = new Set([403, 429])

export function watchSpending({ url, context }: Pick<RunningEmulator, 'url' | 'context'>): Spending {
  const port = Number(new URL(url).port)
  // At the end of a request its token may have been revoked by it.
  const callers = new WeakMap<IncomingMessage, string>()
  const byCaller = new Map<string, Spent>()
  let refused = 0
  const begin = (message: unknown): void => {
    const { request } = message as { readonly request: IncomingMessage }
    if (request.socket.localPort !== port) return
    const found = authenticate(context.state, request.headers.authorization, context.now())
    callers.set(request, found.ok ? callerOf(found.actor, request.socket.remoteAddress ?? '') : 'nobody')
  }
  const end = (message: unknown): void => {
    const { request, response } = message as { readonly request: IncomingMessage; readonly response: ServerResponse }
    const caller = callers.get(request)
    if (caller === undefined) return
    if (refusals.has(response.statusCode)) refused += 1
    const isFree = response.statusCode === 304 || request.url?.endsWith('/rate_limit') === true
    const { counted, all } = byCaller.get(caller) ?? { counted: 0, all: 0 }
    byCaller.set(caller, { counted: counted + (isFree ? 0 : 1), all: all + 1 })
  }
  subscribe(started, begin)
  subscribe(finished, end)
  return {
    byCaller,
    refused: () => refused,
    close() {
      unsubscribe(started, begin)
      unsubscribe(finished, end)
    },
  }
}
