// Starts the thread of the embedded database and provides the `pg` driver with a socket-like stream to it, so that one driver,
// one SQL dialect and one set of queries serve both databases. The caller must hold the lock of the data folder: PGlite does
// not check.
import { once } from 'node:events'
import { Duplex } from 'node:stream'
import { Worker } from 'node:worker_threads'
import { AppError } from '../../lib/errors.ts'
import type { FromThread, ToThread } from './database-worker.ts'

/** What `pg` requires of its socket. */
export type DatabaseStream = Duplex & {
  readonly connect: () => unknown
  readonly setNoDelay: () => unknown
  readonly setKeepAlive: () => unknown
  readonly ref: () => unknown
  readonly unref: () => unknown
}

/** The running embedded database. */
export type EmbeddedDatabase = {
  /** One stream at a time: PGlite has one backend, whose session outlives the stream. */
  readonly openStream: () => DatabaseStream
  /** Resolves when the thread has ended. Idempotent. */
  readonly close: () => Promise<void>
}

/**
 * Buffers are transferred to the thread and returned for reuse, so that many statements leave little to the garbage collector.
 */
const leastBytes = 64 * 1024
const maxSpareBytes = 1024 * 1024

/** Resolves when the database is open. Rejects with `unavailable` when it does not open. */
export async function startEmbeddedDatabase(dataFolder: string): Promise<EmbeddedDatabase> {
  const thread = new Worker(new URL('./database-worker.ts', import.meta.url), { workerData: { dataFolder }, name: 'database' })
  const send = (message: ToThread, transferred: readonly ArrayBuffer[] = []): void => thread.postMessage(message, transferred)
  const first = await firstMessage(thread)
  if (first.kind !== 'ready') {
    await thread.terminate()
    const why = first.kind === 'failed' ? first.message : 'it did not answer'
    throw new AppError('unavailable', `failed to open the embedded database: ${why}`)
  }
  let current: { readonly stream: Duplex; readonly number: number } | undefined
  let spare: ArrayBuffer | undefined
  thread.on('message', (message: FromThread) => {
    if (message.kind === 'spent' && message.buffer.byteLength <= maxSpareBytes) spare = message.buffer
    if (message.kind === 'bytes' && message.stream === current?.number) current.stream.push(message.bytes)
    if (message.kind === 'failed')
      current?.stream.destroy(new AppError('unavailable', `the embedded database failed: ${message.message}`))
  })
  thread.on('error', error => current?.stream.destroy(error))
  let closed: Promise<void> | undefined
  const close = async (): Promise<void> => {
    const ended = once(thread, 'exit')
    send({ kind: 'close' })
    await ended
  }
  return {
    openStream() {
      const number = (current?.number ?? 0) + 1
      send({ kind: 'open', stream: number })
      const stream = databaseStream(chunks => {
        const bytes = gathered(chunks, spare)
        if (bytes.buffer === spare) spare = undefined
        send({ kind: 'bytes', stream: number, bytes }, [bytes.buffer])
      })
      current = { stream, number }
      return stream
    },
    close() {
      closed ??= close()
      return closed
    },
  }
}

/** In watch mode Node sends messages of its own from a thread; they do not have a `kind`. */
async function firstMessage(thread: Worker): Promise<FromThread> {
  for (;;) {
    const [message] = (await once(thread, 'message')) as [Partial<FromThread>]
    if (message.kind === 'ready' || message.kind === 'failed') return message as FromThread
  }
}

/** All chunks in one buffer that can be transferred: `spare` where it is large enough. */
function gathered(chunks: readonly Uint8Array[], spare: ArrayBuffer | undefined): Uint8Array<ArrayBuffer> {
  const size = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
  const buffer = spare !== undefined && spare.byteLength >= size ? spare : new ArrayBuffer(Math.max(size, leastBytes))
  const bytes = new Uint8Array(buffer, 0, size)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}

function databaseStream(send: (chunks: readonly Uint8Array[]) => void): DatabaseStream {
  const stream = new Duplex({
    read() {},
    write(chunk: Buffer, _encoding, done) {
      send([chunk])
      done()
    },
    // The messages of one query are written together and sent together.
    writev(chunks, done) {
      send(chunks.map(({ chunk }) => chunk))
      done()
    },
    final(done) {
      stream.push(null)
      done()
    },
  })
  const itself = (): Duplex => stream
  const connect = (): Duplex => {
    queueMicrotask(() => stream.emit('connect'))
    return stream
  }
  return Object.assign(stream, { connect, setNoDelay: itself, setKeepAlive: itself, ref: itself, unref: itself })
}
