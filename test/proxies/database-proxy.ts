// A proxy in front of a database server that can refuse, hold or cut connections at a chosen message, or at a write that a
// crash switch chooses: then all connections are closed, and the server rolls back.
import type { Socket } from 'node:net'
import { SecretString } from '../../src/lib/secret-string.ts'
import type { CrashSwitch } from './crash-switch.ts'
import { DatabaseSession, rowStatement, type StatementName } from './database-session.ts'
import { type Passage, startRelay } from './relay.ts'
import { createWireReader, type WireMessage } from './wire.ts'

export type DatabaseProxy = {
  /** The same database, through the proxy. */
  readonly url: SecretString
  /** Another database or role of the same server, through the proxy. */
  readonly through: (url: SecretString) => SecretString
  /** Closes every connection. */
  readonly cut: () => void
  /** true: existing connections end and new ones are refused; false: normal operation. */
  readonly refuse: (refuse: boolean) => void
  /** true: nothing passes in either direction; what arrived meanwhile passes after false. */
  readonly hold: (hold: boolean) => void
  /**
   * Cuts the connection at the n-th message from the client: before it is forwarded, or directly after, so that its answer
   * is lost.
   */
  readonly cutAt: (message: number, when: 'before' | 'after') => void
  /** Cancels a cut that was not reached; true when one was made. */
  readonly wasCut: () => boolean
  readonly close: () => Promise<void>
}

/** With a crash switch nothing passes while that is dead; it judges what `nameOf` names, by default what changes rows. */
export async function startDatabaseProxy(
  behind: SecretString,
  crash?: CrashSwitch,
  nameOf: StatementName = rowStatement,
): Promise<DatabaseProxy> {
  const target = new URL(behind.reveal())
  let refusing = false
  let holding = false
  let cut: { message: number; readonly when: 'before' | 'after' } | undefined
  let done = false

  function pass({ near, far, end }: Passage): void {
    if (holding) for (const socket of [near, far]) socket.pause()
    const judged = crash === undefined ? undefined : judgedBy(crash, nameOf, end)
    near.on('data', (bytes: Buffer) => {
      if (cut !== undefined) cut.message -= 1
      if (cut === undefined || cut.message > 0) return judged === undefined ? void far.write(bytes) : judged.ask(far, bytes)
      const { when } = cut
      cut = undefined
      done = true
      if (when === 'before') return end()
      // Its answer is discarded; the server only has to receive it.
      far.removeAllListeners('data')
      far.write(bytes, () => setImmediate(end))
    })
    far.on('data', (bytes: Buffer) => (judged === undefined ? void near.write(bytes) : judged.answer(near, bytes)))
  }

  const address = { host: target.hostname, port: Number(target.port) }
  const relay = await startRelay(() => (refusing || crash?.dead() === true ? undefined : address), { pass })
  const through = (url: SecretString): SecretString => {
    const changed = new URL(url.reveal())
    changed.port = String(relay.port)
    changed.hostname = '127.0.0.1'
    return new SecretString(changed.href)
  }
  return {
    url: through(behind),
    through,
    cut: relay.cut,
    refuse(next) {
      refusing = next
      if (next) relay.cut()
    },
    hold(next) {
      holding = next
      for (const socket of relay.sockets()) next ? socket.pause() : socket.resume()
    },
    cutAt(message, when) {
      cut = { message, when }
      done = false
    },
    wasCut() {
      cut = undefined
      return done
    },
    close: relay.close,
  }
}

/** Passes whole messages that the switch lets through. */
function judgedBy(crash: CrashSwitch, nameOf: StatementName, end: () => void) {
  const session = new DatabaseSession(crash, nameOf)
  const [fromClient, fromServer] = [createWireReader({ startup: true }), createWireReader({ startup: false })]
  const pass = (to: Socket, messages: readonly WireMessage[], through: (message: WireMessage) => Buffer | undefined): void => {
    for (const message of messages) {
      const bytes = crash.dead() ? undefined : through(message)
      if (bytes === undefined) return void end()
      if (bytes.length > 0) to.write(bytes)
    }
  }
  return {
    ask: (far: Socket, bytes: Buffer): void => pass(far, fromClient(bytes), message => session.ask(message)),
    answer: (near: Socket, bytes: Buffer): void => pass(near, fromServer(bytes), message => session.answer(message)),
  }
}
