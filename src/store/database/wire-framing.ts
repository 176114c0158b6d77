// Cuts PostgreSQL's frontend byte stream into whole messages: the embedded database must never be given half of one.
// It gathers everything up to the message that asks for an answer, so that an extended query is run as one piece. Pure.
// Source: https://www.postgresql.org/docs/current/protocol-message-formats.html

/** Messages after which the server answers: Query, Sync, Flush, Terminate, PasswordMessage, CopyDone, CopyFail. */
const answered = new Set(['Q', 'S', 'H', 'X', 'p', 'c', 'f'].map(letter => letter.charCodeAt(0)))
const headerBytes = 5
const mostBytes = 64 * 1024 * 1024

export type MessageFramer = {
  /**
   * Adds bytes and returns the batches that became complete, as views of these bytes where that is possible: nothing else refers to them
   * once the batches are done with. Throws RangeError on a message above 64 MiB.
   */
  readonly push: (bytes: Uint8Array) => readonly Uint8Array[]
}

export function createMessageFramer(): MessageFramer {
  let held: Buffer = Buffer.alloc(0)
  let started = false

  /** The end of the message that begins at `from`; undefined while it is incomplete. */
  const endOfMessage = (from: number): number | undefined => {
    const lengthAt = started ? from + 1 : from
    if (held.length < lengthAt + 4) return undefined
    const length = held.readInt32BE(lengthAt)
    if (length < 4 || length > mostBytes) throw new RangeError('a protocol message of impossible length')
    const end = lengthAt + length
    return held.length < end ? undefined : end
  }

  return {
    push(bytes) {
      held = held.length === 0 ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length) : Buffer.concat([held, bytes])
      const batches: Uint8Array[] = []
      let batchStart = 0
      let position = 0
      for (let end = endOfMessage(position); end !== undefined; end = endOfMessage(position)) {
        const asks = !started || (held.length >= position + headerBytes && answered.has(held[position] ?? 0))
        started = true
        position = end
        if (!asks) continue
        batches.push(held.subarray(batchStart, end))
        batchStart = end
      }
      held = Buffer.from(held.subarray(batchStart))
      return batches
    },
  }
}
