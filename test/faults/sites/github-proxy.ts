// A door in front of the GitHub emulator that misbehaves on order and counts what comes through: the faults of a network and of GitHub's edge.
// It forwards everything else unchanged; it never decides what GitHub says.
import { createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type GitHubFault =
  | {
      readonly kind: 'status'
      readonly status: number
      readonly headers?: Readonly<Record<string, string>>
      readonly message: string
    }
  /** No answer, ever. */
  | { readonly kind: 'hang' }
  | { readonly kind: 'reset' }
  /** Headers at once, then a byte a second. */
  | { readonly kind: 'slow body' }

export type GitHubProxy = {
  readonly url: string
  /** Undefined: GitHub is well. */
  readonly misbehave: (fault: GitHubFault | undefined) => void
  /** False while what is asked gets no answer, or no end of one. */
  readonly answers: () => boolean
  /** Requests that came since the last time this was asked. */
  readonly taken: () => number
  readonly stop: () => Promise<void>
}

/** `behind` is the emulator's address on loopback. */
export async function startGitHubProxy(behind: string): Promise<GitHubProxy> {
  const port = Number(new URL(behind).port)
  let fault: GitHubFault | undefined
  let count = 0
  const server = createServer((request, response) => {
    count += 1
    if (fault === undefined) pass(request, response, port)
    else misbehave(fault, request, response)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    misbehave(next) {
      fault = next
    },
    answers: () => fault?.kind !== 'hang' && fault?.kind !== 'slow body',
    taken() {
      const taken = count
      count = 0
      return taken
    },
    async stop() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

function pass(request: IncomingMessage, response: ServerResponse, port: number): void {
  const { method, url, headers } = request
  const onward = forward({ host: '127.0.0.1', port, ...(method && { method }), ...(url && { path: url }), headers }, answer => {
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(response)
  })
  onward.once('error', () => response.destroy())
  request.pipe(onward)
}

function misbehave(fault: GitHubFault, request: IncomingMessage, response: ServerResponse): void {
  request.resume()
  switch (fault.kind) {
    case 'status':
      response.writeHead(fault.status, { 'content-type': 'application/json', ...fault.headers })
      response.end(JSON.stringify({ message: fault.message }))
      return
    case 'hang':
      return
    case 'reset':
      request.socket.resetAndDestroy()
      return
    case 'slow body': {
      response.writeHead(201, { 'content-type': 'application/json' })
      const dribble = setInterval(() => response.write(' '), 1000)
      response.once('close', () => clearInterval(dribble))
      return
    }
  }
}
