// Every request that a GitHub emulator of this process has answered: method, path and status. It asks Node, so that no proxy is
// in the way.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingMessage, ServerResponse } from 'node:http'

export type GitHubRequest = {
  /** By `performance.now()`. */
  readonly at: number
  readonly method: string
  readonly path: string
  readonly status: number
}

export type GitHubRequests = {
  readonly since: (time: number) => readonly GitHubRequest[]
  readonly close: () => void
}

type Finished = { readonly request: IncomingMessage; readonly response: ServerResponse }

// https://nodejs.org/api/diagnostics_channel.html#http
const channel = 'http.server.response.finish'

export function recordGitHubRequests(url: string): GitHubRequests {
  const port = Number(new URL(url).port)
  const all: GitHubRequest[] = []
  const see = (message: unknown): void => {
    const { request, response } = message as Finished
    if (request.socket.localPort !== port) return
    const { method = '', url: target = '/' } = request
    all.push({ at: performance.now(), method, path: target.split('?')[0] ?? '', status: response.statusCode })
  }
  subscribe(channel, see)
  return {
    since: time => all.filter(({ at }) => at >= time),
    close: () => unsubscribe(channel, see),
  }
}

/** GitHub refuses by its limits with 403 or 429. */
export function areLimits(requests: readonly GitHubRequest[]): readonly GitHubRequest[] {
  return requests.filter(({ status }) => status === 403 || status === 429)
}
