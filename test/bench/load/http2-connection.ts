// An HTTP/2 connection with concurrent requests, as the API server has to a webhook. It sends prepared frames and respects the
// server's flow control; it ignores what it does not need (priorities, pushes, trailers), and whatever ends the connection is
// an error.
// Source: RFC 9113 §5–6
import type { Duplex } from 'node:stream'
import type { Connection } from './http1-connection.ts'
import {
  connectionPreface,
  type Frame,
  firstWindow,
  flags,
  frame,
  frameHeaderBytes,
  frameTypes,
  maxFrameBytes,
  postHeaders,
  readFrame,
  setting,
  statusOf,
  windowUpdate,
} from './http2-frames.ts'
import { fieldsOf, freshBytes, type PlannedRequest, type PreparedRequest, prepared } from './planned-request.ts'

/** HEADERS and DATA frames with stream id 0; the id is set when they are sent. */
export function prepareHttp2(request: PlannedRequest, uniqueHeader: string | undefined): PreparedRequest {
  const body = Buffer.from(request.body, 'base64')
  const head = postHeaders(request.path, 'localhost', fieldsOf(request, body, uniqueHeader))
  const frames = [frame(frameTypes.headers, flags.endHeaders, 0, head)]
  for (let from = 0; from < body.length; from += maxFrameBytes) {
    const last = from + maxFrameBytes >= body.length
    frames.push(frame(frameTypes.data, last ? flags.endStream : 0, 0, body.subarray(from, from + maxFrameBytes)))
  }
  return prepared(request, Buffer.concat(frames), uniqueHeader)
}

type Stream = {
  readonly request: PreparedRequest
  readonly settled: PromiseWithResolvers<boolean>
  status: number
  readonly body: Buffer[]
}

const largestWindow = 2 ** 31 - 1
const settingIds = { headerTableSize: 1, enablePush: 2, initialWindowSize: 4 } as const

/** Sets the stream id in a prepared request's frames, and counts the DATA bytes for flow control (RFC 9113 §6.9). */
function numbered(request: PreparedRequest, stream: number): { readonly bytes: Buffer; readonly counted: number } {
  const fresh = freshBytes(request)
  const bytes = fresh === request.bytes ? Buffer.from(fresh) : fresh
  let counted = 0
  for (let at = 0; at < bytes.length; ) {
    const length = bytes.readUIntBE(at, 3)
    if (bytes[at + 3] === frameTypes.data) counted += length
    bytes.writeUInt32BE(stream, at + 5)
    at += frameHeaderBytes + length
  }
  return { bytes, counted }
}

export function http2Connection(socket: Duplex): Connection {
  const streams = new Map<number, Stream>()
  const held: { readonly bytes: Buffer; readonly counted: number }[] = []
  let unread: Buffer = Buffer.alloc(0)
  let nextStream = 1
  let window = firstWindow
  let failure: Error | undefined

  const fail = (error: Error): void => {
    failure ??= error
    for (const { settled } of streams.values()) settled.reject(failure)
    streams.clear()
  }
  const flush = (): void => {
    for (let first = held[0]; first !== undefined && first.counted <= window; first = held[0]) {
      held.shift()
      window -= first.counted
      socket.write(first.bytes)
    }
  }
  const end = (id: number, stream: Stream): void => {
    streams.delete(id)
    const { expectedStatus, expectedText } = stream.request
    stream.settled.resolve(stream.status === expectedStatus && Buffer.concat(stream.body).includes(expectedText))
  }
  const acknowledge = ({ type, flags: bits }: Frame, payload: Buffer): void => {
    if ((bits & flags.acknowledge) === 0) socket.write(frame(type, flags.acknowledge, 0, payload))
  }
  /** Frames of one request. */
  const receiveAnswer = ({ type, payload, stream: id, flags: bits }: Frame, stream: Stream): void => {
    if (type === frameTypes.reset) {
      stream.settled.resolve(false)
      streams.delete(id)
      return
    }
    if (type === frameTypes.headers) stream.status ||= statusOf(payload)
    if (type === frameTypes.data) stream.body.push(Buffer.from(payload))
    if ((bits & flags.endStream) !== 0) end(id, stream)
  }
  const receive = (got: Frame): void => {
    switch (got.type) {
      case frameTypes.settings:
        acknowledge(got, Buffer.alloc(0))
        return
      case frameTypes.ping:
        acknowledge(got, got.payload)
        return
      case frameTypes.windowUpdate:
        if (got.stream === 0) window += got.payload.readUInt32BE(0)
        flush()
        return
      case frameTypes.goAway:
        fail(new Error(`the server ended the connection: GOAWAY ${got.payload.toString('latin1', 8)}`))
        return
      default: {
        const stream = streams.get(got.stream)
        if (stream !== undefined) receiveAnswer(got, stream)
      }
    }
  }

  socket.on('error', fail)
  socket.once('close', () => fail(new Error('the server closed the connection')))
  socket.on('data', (chunk: Buffer) => {
    unread = unread.length === 0 ? chunk : Buffer.concat([unread, chunk])
    let at = 0
    for (let got = readFrame(unread); got !== undefined; got = readFrame(unread.subarray(at))) {
      at += frameHeaderBytes + got.payload.length
      receive(got)
    }
    unread = unread.subarray(at)
  })
  const settings = [
    setting(settingIds.headerTableSize, 0),
    setting(settingIds.enablePush, 0),
    setting(settingIds.initialWindowSize, largestWindow),
  ]
  socket.write(
    Buffer.concat([
      connectionPreface,
      frame(frameTypes.settings, 0, 0, Buffer.concat(settings)),
      windowUpdate(0, largestWindow - firstWindow),
    ]),
  )
  return {
    send(request) {
      if (failure !== undefined) return Promise.reject(failure)
      const stream: Stream = { request, settled: Promise.withResolvers(), status: 0, body: [] }
      streams.set(nextStream, stream)
      held.push(numbered(request, nextStream))
      nextStream += 2
      flush()
      return stream.settled.promise
    },
    close: () => socket.destroy(),
  }
}
