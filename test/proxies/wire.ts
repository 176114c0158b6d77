// PostgreSQL's messages as far as a proxy needs them: their boundaries and types. Buffers bytes until a message is complete.
// Source: https://www.postgresql.org/docs/current/protocol-message-formats.html

export type WireMessage = { readonly type: string; readonly bytes: Buffer; readonly body: Buffer }

/** `startup`: the first message of a client has no type byte. */
export function createWireReader(options: { readonly startup: boolean }): (chunk: Buffer) => readonly WireMessage[] {
  let rest: Buffer = Buffer.alloc(0)
  let { startup } = options
  return chunk => {
    rest = Buffer.concat([rest, chunk])
    const messages: WireMessage[] = []
    for (;;) {
      const head = startup ? 0 : 1
      if (rest.length < head + 4) return messages
      const end = head + rest.readUInt32BE(head)
      if (rest.length < end) return messages
      const type = startup ? 'startup' : String.fromCharCode(rest[0] ?? 0)
      messages.push({ type, bytes: rest.subarray(0, end), body: rest.subarray(head + 4, end) })
      rest = rest.subarray(end)
      startup = false
    }
  }
}

/** The zero-terminated texts at the start of a body. */
export function textsOf(body: Buffer): readonly string[] {
  return body.toString('utf8').split('\0')
}
