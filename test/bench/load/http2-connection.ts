// One HTTP/2 connection with several requests under way, as the API server holds it to a webhook. It sends prepared frames and obeys the
// server's flow control; everything it does not need (priorities, pushes, trailers) it ignores, and whatever ends the connection is an error.
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
  mostFrameBytes,
  postHeaders,
  readFrame,
  setting,
  statusOf,
  windowUpdate,
} from './http2-frames.ts'
import { fieldsOf, freshBytes, type PlannedRequest, type PreparedRequest, prepared } from './planned-request.ts'

/** HEADERS and DATA frames of stream 0: the stream's number is written in when it is sent. */
export function prepareHttp2(request: PlannedRequest, uniqueHeader: string | undefined): PreparedRequest {
  const body = Buffer.from(request.body, 'base64')
  const head = postHeaders(request.path, 'localhost', fieldsOf(request, body, uniqueHeader))
  const frames = [frame(frameTypes.headers, flags.endHeaders, 0, head)]
  for (let from = 0; from < body.length; from += mostFrameBytes) {
    const last = from + mostFrameBytes >= body.length
    frames.push(frame(frameTypes.data, last ? flags.endStream : 0, 0, body.subarray(from, from + mostFrameBytes)))
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

/** Numbers a prepared request's frames, and says how many bytes of its DATA count against the window (RFC 9113 §6.9). */
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
  const take = (got: Frame): void => {
    const stream = streams.get(got.stream)
    switch (got.type) {
      case frameTypes.headers:
        if (stream) stream.status ||= statusOf(got.payload)
        break
      case frameTypes.data:
        stream?.body.push(Buffer.from(got.payload))
        break
      case frameTypes.settings:
        if ((got.flags & flags.acknowledge) === 0) socket.write(frame(frameTypes.settings, flags.acknowledge, 0, Buffer.alloc(0)))
        return
      case frameTypes.ping:
        if ((got.flags & flags.acknowledge) === 0) socket.write(frame(frameTypes.ping, flags.acknowledge, 0, got.payload))
        return
      case frameTypes.windowUpdate:
        if (got.stream === 0) window += got.payload.readUInt32BE(0)
        flush()
        return
      case frameTypes.reset:
        stream?.settled.resolve(false)
        streams.delete(got.stream)
        return
      case frameTypes.goAway:
        fail(new Error(`the server ended the connection: GOAWAY ${got.payload.toString('latin1', 8)}`))
        return
    }
    if (stream && (got.flags & flags.endStream) !== 0) end(got.stream, stream)
  }

  socket.on('error', fail)
  socket.once('close', () => fail(new Error('the server closed the connection')))
  socket.on('data', (chunk: Buffer) => {
    unread = unread.length === 0 ? chunk : Buffer.concat([unread, chunk])
    let at = 0
    for (let got = readFrame(unread); got !== undefined; got = readFrame(unread.subarray(at))) {
      at += frameHeaderBytes + got.payload.length
      take(got)
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
