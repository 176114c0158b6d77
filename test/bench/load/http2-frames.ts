// The HTTP/2 frames that a client needs to send POST requests with prepared header blocks. Pure. Header blocks do not use the
// dynamic table, and the server is told to have none (SETTINGS_HEADER_TABLE_SIZE 0), so that one prepared block serves every
// stream and a status can be read without state.
// Source: RFC 9113 §4.1, §6; RFC 7541 §6 and Appendix A.

export const frameTypes = {
  data: 0,
  headers: 1,
  reset: 3,
  settings: 4,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
} as const

export const flags = { endStream: 1, acknowledge: 1, endHeaders: 4, padded: 8, priority: 32 } as const

export const connectionPreface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1')
export const frameHeaderBytes = 9
/** The size that every peer must accept (SETTINGS_MAX_FRAME_SIZE). */
export const maxFrameBytes = 16_384
export const firstWindow = 65_535

export type Frame = { readonly type: number; readonly flags: number; readonly stream: number; readonly payload: Buffer }

export function frame(type: number, flagBits: number, stream: number, payload: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(frameHeaderBytes + payload.length)
  bytes.writeUIntBE(payload.length, 0, 3)
  bytes.writeUInt8(type, 3)
  bytes.writeUInt8(flagBits, 4)
  bytes.writeUInt32BE(stream, 5)
  payload.copy(bytes, frameHeaderBytes)
  return bytes
}

export function setting(identifier: number, value: number): Buffer {
  const bytes = Buffer.alloc(6)
  bytes.writeUInt16BE(identifier, 0)
  bytes.writeUInt32BE(value, 2)
  return bytes
}

export function windowUpdate(stream: number, increment: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(increment, 0)
  return frame(frameTypes.windowUpdate, 0, stream, bytes)
}

/** The first complete frame in `bytes`; undefined while it is incomplete. */
export function readFrame(bytes: Buffer): Frame | undefined {
  if (bytes.length < frameHeaderBytes) return undefined
  const length = bytes.readUIntBE(0, 3)
  if (bytes.length < frameHeaderBytes + length) return undefined
  return {
    type: bytes.readUInt8(3),
    flags: bytes.readUInt8(4),
    stream: bytes.readUInt32BE(5) & 0x7fffffff,
    payload: bytes.subarray(frameHeaderBytes, frameHeaderBytes + length),
  }
}

/** RFC 7541 §5.1: an integer with a prefix of `bits` bits. */
function integer(value: number, bits: number, pattern: number): number[] {
  const most = 2 ** bits - 1
  if (value < most) return [pattern | value]
  const bytes = [pattern | most]
  let rest = value - most
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128)
  return [...bytes, rest]
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'latin1')
  return Buffer.concat([Buffer.from(integer(bytes.length, 7, 0)), bytes])
}

/** A field that is not added to a table (RFC 7541 §6.2.2), with its name from the static table if that has an index. */
function literal(name: string | number, value: string): Buffer {
  const head = typeof name === 'number' ? Buffer.from(integer(name, 4, 0)) : Buffer.concat([Buffer.from([0]), text(name)])
  return Buffer.concat([head, text(value)])
}

const staticNames = { authority: 1, path: 4 } as const
const methodPost = 0x83
const schemeHttps = 0x87

export function postHeaders(path: string, authority: string, fields: Readonly<Record<string, string>>): Buffer {
  return Buffer.concat([
    Buffer.from([methodPost, schemeHttps]),
    literal(staticNames.path, path),
    literal(staticNames.authority, authority),
    ...Object.entries(fields).map(([name, value]) => literal(name.toLowerCase(), value)),
  ])
}

const indexedStatuses: Readonly<Record<number, number>> = { 136: 200, 137: 204, 138: 206, 139: 304, 140: 400, 141: 404, 142: 500 }

/**
 * The status of an answer whose encoder has no dynamic table; 0 if it is not in the static table (never an expected one here).
 */
export function statusOf(block: Buffer): number {
  let at = 0
  // Dynamic table size updates come first (RFC 7541 §4.2).
  while (((block[at] ?? 0) & 0xe0) === 0x20) at += 1
  return indexedStatuses[block[at] ?? 0] ?? 0
}
