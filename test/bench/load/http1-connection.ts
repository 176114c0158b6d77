// A keep-alive HTTP/1.1 connection that sends prepared bytes and reads answers with a Content-Length: the cheapest correct
// client for this purpose, so that the generator is not the bottleneck. Redirects and chunked answers are not supported: both
// are errors.
import type { Duplex } from 'node:stream'
import { fieldsOf, freshBytes, type PlannedRequest, type PreparedRequest, prepared } from './planned-request.ts'

export type Connection = {
  /** Resolves to whether the answer was the expected one. Rejects when the connection fails. */
  readonly send: (request: PreparedRequest) => Promise<boolean>
  readonly close: () => void
}

export function prepareHttp1(request: PlannedRequest, uniqueHeader: string | undefined): PreparedRequest {
  const body = Buffer.from(request.body, 'base64')
  const fields = Object.entries(fieldsOf(request, body, uniqueHeader)).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = `POST ${request.path} HTTP/1.1\r\nhost: localhost\r\n${fields.join('')}\r\n`
  return prepared(request, Buffer.concat([Buffer.from(head, 'latin1'), body]), uniqueHeader)
}

type Answer = { readonly status: number; readonly body: Buffer }

/** The first complete answer in `bytes` and the bytes after it; undefined while it is incomplete. */
export function readAnswer(bytes: Buffer): { readonly answer: Answer; readonly rest: Buffer } | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd === -1) return undefined
  const head = bytes.toString('latin1', 0, headEnd)
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
  if (length === undefined) throw new Error(`an answer without Content-Length: ${head.slice(0, 200)}`)
  const end = headEnd + 4 + Number(length)
  if (bytes.length < end) return undefined
  const status = Number(head.slice(9, 12))
  return { answer: { status, body: bytes.subarray(headEnd + 4, end) }, rest: bytes.subarray(end) }
}

export function http1Connection(socket: Duplex): Connection {
  let held: Buffer = Buffer.alloc(0)
  let waiting: { readonly request: PreparedRequest; readonly settled: PromiseWithResolvers<boolean> } | undefined
  const fail = (error: Error): void => {
    waiting?.settled.reject(error)
    waiting = undefined
  }
  socket.on('error', fail)
  socket.once('close', () => fail(new Error('the server closed the connection')))
  socket.on('data', (chunk: Buffer) => {
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk])
    try {
      const read = readAnswer(held)
      if (read === undefined || waiting === undefined) return
      held = read.rest
      const { request, settled } = waiting
      waiting = undefined
      settled.resolve(read.answer.status === request.expectedStatus && read.answer.body.includes(request.expectedText))
    } catch (error) {
      fail(error instanceof Error ? error : new Error(String(error)))
    }
  })
  return {
    send(request) {
      const settled = Promise.withResolvers<boolean>()
      waiting = { request, settled }
      socket.write(freshBytes(request))
      return settled.promise
    },
    close: () => socket.destroy(),
  }
}
