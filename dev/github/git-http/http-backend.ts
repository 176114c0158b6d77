// One run of `git http-backend` as a CGI program: request in, response out, both streamed. It never decides about access and
// never sees a credential: the caller checks and removes it.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Transform } from 'node:stream'
import { defined } from '../../../src/lib/json/defined.ts'
import type { GitStore } from '../git/store.ts'

export type BackendCall = {
  readonly git: GitStore
  readonly repositoryId: number
  /** `/info/refs`, `/git-upload-pack` or `/git-receive-pack`. */
  readonly path: string
  readonly query: string
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** The hooks' REMOTE_USER. */
  readonly remoteUser: string
  /** The file to which the post-receive hook writes the ref updates. */
  readonly pushReport?: string
  /** Runs when git has ended and before the response ends. */
  readonly beforeEnd: () => Promise<void>
}

/** The largest request: a push of 512 MiB. */
const largestRequest = 512 * 1024 * 1024
const maxRun = 300_000
const maxHead = 16 * 1024

function header(request: IncomingMessage, name: string): string {
  const value = request.headers[name]
  return Array.isArray(value) ? value.join(', ') : (value ?? '')
}

/** Separates the CGI head (status and headers) from the body, which streams on. */
function sendHead(response: ServerResponse, head: string): void {
  for (const line of head.split(/\r?\n/)) {
    const colon = line.indexOf(':')
    if (colon < 0) continue
    const name = line.slice(0, colon)
    const value = line.slice(colon + 1).trim()
    if (name.toLowerCase() === 'status') response.statusCode = Number.parseInt(value, 10)
    else response.setHeader(name, value)
  }
}

function limitSize(limit: number): Transform {
  let size = 0
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length
      done(size > limit ? new Error('the request is larger than the emulator accepts') : null, chunk)
    },
  })
}

/** Sends the backend's output as the response: first the CGI head, then the body, no faster than the client reads. */
function relay(child: ChildProcessWithoutNullStreams, response: ServerResponse): { readonly headSent: () => boolean } {
  let pending: Buffer | undefined = Buffer.alloc(0)
  const forward = (chunk: Buffer): void => {
    if (chunk.length === 0 || response.write(chunk)) return
    child.stdout.pause()
    response.once('drain', () => child.stdout.resume())
  }
  child.stdout.on('data', (chunk: Buffer) => {
    if (!pending) return forward(chunk)
    pending = Buffer.concat([pending, chunk])
    const end = pending.indexOf('\r\n\r\n')
    if (end < 0 && pending.length > maxHead) child.kill('SIGKILL')
    if (end < 0) return
    sendHead(response, pending.subarray(0, end).toString('latin1'))
    const rest = pending.subarray(end + 4)
    pending = undefined
    forward(rest)
  })
  response.on('close', () => {
    // The client has disconnected: stop the backend.
    if (!response.writableFinished) child.kill('SIGKILL')
    child.stdout.resume()
  })
  return { headSent: () => pending === undefined }
}

function environmentOf(call: BackendCall): NodeJS.ProcessEnv {
  const { git, request } = call
  return {
    ...git.environment,
    GIT_PROJECT_ROOT: git.folder,
    GIT_HTTP_EXPORT_ALL: '1',
    GATEWAY_INTERFACE: 'CGI/1.1',
    SERVER_PROTOCOL: 'HTTP/1.1',
    REQUEST_METHOD: request.method ?? 'GET',
    PATH_INFO: `/${call.repositoryId}.git${call.path}`,
    QUERY_STRING: call.query,
    CONTENT_TYPE: header(request, 'content-type'),
    CONTENT_LENGTH: header(request, 'content-length'),
    HTTP_CONTENT_ENCODING: header(request, 'content-encoding'),
    GIT_PROTOCOL: header(request, 'git-protocol'),
    REMOTE_USER: call.remoteUser,
    REMOTE_ADDR: request.socket.remoteAddress ?? '',
    ...defined({ PUSH_REPORT: call.pushReport }),
  }
}

/** Runs the backend to its end; resolves when the response is complete, rejects when git failed to start. */
export async function runHttpBackend(call: BackendCall): Promise<void> {
  const { request, response } = call
  const child = spawn('git', ['http-backend'], { env: environmentOf(call), timeout: maxRun })
  const relayed = relay(child, response)
  child.stderr.resume()
  // git ends early when it refuses; then the response that it wrote counts.
  child.stdin.on('error', () => undefined)
  const limited = limitSize(largestRequest)
  limited.on('error', () => child.kill('SIGKILL'))
  request.pipe(limited).pipe(child.stdin)
  try {
    await new Promise((resolve, reject) => {
      child.on('error', reject)
      child.on('close', resolve)
    })
    if (!relayed.headSent()) response.statusCode = 500
    await call.beforeEnd()
    response.end()
  } catch (error) {
    response.destroy()
    throw error
  }
}
