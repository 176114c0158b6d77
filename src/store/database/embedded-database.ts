// Starts the thread of the embedded database and gives the PostgreSQL driver a socket-like stream to it, so that one driver, one SQL
// dialect and one set of queries serve both databases. Never shares a data folder with another process (PGlite itself does not look).
import { once } from 'node:events'
import { Duplex } from 'node:stream'
import { Worker } from 'node:worker_threads'
import { AppError } from '../../lib/errors.ts'
import type { FromThread, ToThread } from './database-worker.ts'

/** What `pg` expects of its socket. */
export type DatabaseStream = Duplex & {
  readonly connect: () => unknown
  readonly setNoDelay: () => unknown
  readonly setKeepAlive: () => unknown
  readonly ref: () => unknown
  readonly unref: () => unknown
}

export type EmbeddedDatabase = {
  /** One stream at a time: PGlite has one backend, and its session does not end with the stream. */
  readonly openStream: () => DatabaseStream
  readonly close: () => Promise<void>
}

/** Buffers go to the thread and come back, so that a flood of statements leaves neither side anything to collect. */
const leastBytes = 64 * 1024
const mostSpareBytes = 1024 * 1024

export async function startEmbeddedDatabase(dataFolder: string): Promise<EmbeddedDatabase> {
  const thread = new Worker(new URL('./database-worker.ts', import.meta.url), { workerData: { dataFolder }, name: 'database' })
  const tell = (message: ToThread, handedOver: readonly ArrayBuffer[] = []): void => thread.postMessage(message, handedOver)
  const first = await firstWord(thread)
  if (first.kind !== 'ready') {
    await thread.terminate()
    const why = first.kind === 'failed' ? first.message : 'it did not answer'
    throw new AppError('unavailable', `the embedded database does not open: ${why}`)
  }
  let current: { readonly stream: Duplex; readonly number: number } | undefined
  let spare: ArrayBuffer | undefined
  thread.on('message', (message: FromThread) => {
    if (message.kind === 'spent' && message.buffer.byteLength <= mostSpareBytes) spare = message.buffer
    if (message.kind === 'bytes' && message.stream === current?.number) current.stream.push(message.bytes)
    if (message.kind === 'failed')
      current?.stream.destroy(new AppError('unavailable', `the embedded database failed: ${message.message}`))
  })
  thread.on('error', error => current?.stream.destroy(error))
  let closed: Promise<void> | undefined
  const close = async (): Promise<void> => {
    const ended = once(thread, 'exit')
    tell({ kind: 'close' })
    await ended
  }
  return {
    openStream() {
      const number = (current?.number ?? 0) + 1
      tell({ kind: 'open', stream: number })
      const stream = databaseStream(chunks => {
        const bytes = gathered(chunks, spare)
        if (bytes.buffer === spare) spare = undefined
        tell({ kind: 'bytes', stream: number, bytes }, [bytes.buffer])
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

/** Node's watch mode lets threads send messages of its own, which have no `kind`. */
async function firstWord(thread: Worker): Promise<FromThread> {
  for (;;) {
    const [message] = (await once(thread, 'message')) as [Partial<FromThread>]
    if (message.kind === 'ready' || message.kind === 'failed') return message as FromThread
  }
}

/** All of them in one buffer that can be handed over: `spare` where it is large enough. */
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
    // The messages of one question come together and go together.
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
