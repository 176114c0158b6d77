// The worker thread of the embedded database: PGlite blocks its thread during a query, and must not block the process. It
// speaks PostgreSQL's wire protocol over its message port and does not know what is stored. PGlite has one backend session for
// all streams, so the session is reset when a stream opens: no open transaction and no prepared statement of the stream before
// it remains.
// Source: https://www.postgresql.org/docs/current/protocol-flow.html , https://pglite.dev/docs/api#execprotocolraw
import { parentPort, workerData } from 'node:worker_threads'
import { PGlite } from '@electric-sql/pglite'
import { inMemoryStartParameters, openDurable } from './durable-folder.ts'
import { createMessageFramer, type MessageFramer } from './wire-framing.ts'

/** From the process to the thread: open a stream, its bytes (whose buffer is transferred), close the database. */
export type ToThread =
  | { readonly kind: 'open'; readonly stream: number }
  | { readonly kind: 'bytes'; readonly stream: number; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'close' }

/** From the thread: the database is open, bytes for a stream, a buffer that is returned, a failure. */
export type FromThread =
  | { readonly kind: 'ready' }
  | { readonly kind: 'bytes'; readonly stream: number; readonly bytes: Uint8Array }
  | { readonly kind: 'spent'; readonly buffer: ArrayBuffer }
  | { readonly kind: 'failed'; readonly message: string }

if (parentPort === null) throw new Error('database-worker.ts runs as a worker thread only')
const port = parentPort
const send = (message: FromThread, transferred: readonly ArrayBuffer[] = []): void => port.postMessage(message, transferred)
const sendFailure = (error: unknown): void =>
  send({ kind: 'failed', message: error instanceof Error ? error.message : String(error) })

async function serve(database: PGlite): Promise<void> {
  let framer: MessageFramer = createMessageFramer()
  const answer = async (message: ToThread): Promise<void> => {
    switch (message.kind) {
      case 'open':
        framer = createMessageFramer()
        await database.exec('ROLLBACK')
        await database.exec('DISCARD ALL')
        return
      case 'bytes':
        for (const batch of framer.push(message.bytes)) {
          const bytes = await database.execProtocolRaw(batch)
          if (bytes.length > 0) send({ kind: 'bytes', stream: message.stream, bytes })
        }
        send({ kind: 'spent', buffer: message.bytes.buffer }, [message.bytes.buffer])
        return
      case 'close':
        await database.close()
        port.close()
        return
    }
  }
  let last = Promise.resolve()
  port.on('message', (message: ToThread) => {
    last = last.then(() => answer(message)).catch(sendFailure)
  })
  send({ kind: 'ready' })
}

const { dataFolder } = workerData as { readonly dataFolder: string }
const opened =
  dataFolder === 'memory://' ? PGlite.create(dataFolder, { startParams: [...inMemoryStartParameters] }) : openDurable(dataFolder)
await opened.then(serve).catch(sendFailure)
