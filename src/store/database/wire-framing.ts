// Cuts PostgreSQL's frontend byte stream into whole messages: the embedded database must never get half of one.
// It gathers everything up to the message that requests an answer, so that an extended query runs as one batch. Pure.
// Source: https://www.postgresql.org/docs/current/protocol-message-formats.html

/** Messages after which the server answers: Query, Sync, Flush, Terminate, PasswordMessage, CopyDone, CopyFail. */
const answered = new Set(['Q', 'S', 'H', 'X', 'p', 'c', 'f'].map(letter => letter.charCodeAt(0)))
const headerBytes = 5
const maxBytes = 64 * 1024 * 1024

/** Splits the byte stream of one connection. */
export type MessageFramer = {
  /**
   * Adds bytes and returns the batches that became complete, as views of these bytes where possible; the framer keeps no
   * reference to them. Throws RangeError on a message above 64 MiB.
   */
  readonly push: (bytes: Uint8Array) => readonly Uint8Array[]
}

/** A framer for one connection; the first message is the start-up message, which has no type byte. */
export function createMessageFramer(): MessageFramer {
  let pending: Buffer = Buffer.alloc(0)
  let started = false

  /** The end of the message that begins at `from`; undefined while it is incomplete. */
  const endOfMessage = (from: number): number | undefined => {
    const lengthAt = started ? from + 1 : from
    if (pending.length < lengthAt + 4) return undefined
    const length = pending.readInt32BE(lengthAt)
    if (length < 4 || length > maxBytes) throw new RangeError('a protocol message has an impossible length')
    const end = lengthAt + length
    return pending.length < end ? undefined : end
  }

  return {
    push(bytes) {
      pending = pending.length === 0 ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length) : Buffer.concat([pending, bytes])
      const batches: Uint8Array[] = []
      let batchStart = 0
      let position = 0
      for (let end = endOfMessage(position); end !== undefined; end = endOfMessage(position)) {
        const requestsAnswer = !started || (pending.length >= position + headerBytes && answered.has(pending[position] ?? 0))
        started = true
        position = end
        if (!requestsAnswer) continue
        batches.push(pending.subarray(batchStart, end))
        batchStart = end
      }
      pending = Buffer.from(pending.subarray(batchStart))
      return batches
    },
  }
}
