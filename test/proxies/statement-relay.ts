// Counts the statements that reach a PostgreSQL server, from the bytes on the wire: whatever a program says of itself.
import { startRelay } from './relay.ts'
import { createWireReader } from './wire.ts'

/** Messages of a client that carry a statement: https://www.postgresql.org/docs/current/protocol-message-formats.html */
const carriers = new Set(['Q', 'P'])

export type StatementRelay = {
  /** On loopback, where the server is reached and its statements are counted. */
  readonly port: number
  readonly count: () => number
  readonly close: () => Promise<void>
}

export async function startStatementRelay(target: { readonly host: string; readonly port: number }): Promise<StatementRelay> {
  let count = 0
  const { port, close } = await startRelay(() => target, {
    pass({ near, far }) {
      const read = createWireReader({ startup: true })
      near.on('data', (bytes: Buffer) => {
        count += read(bytes).filter(({ type }) => carriers.has(type)).length
      })
      near.pipe(far)
      far.pipe(near)
    },
  })
  return { port, count: () => count, close }
}
