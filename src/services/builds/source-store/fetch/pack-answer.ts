// Reads the answer to a `fetch` of protocol version 2: whether the commit has parents, and the bytes of the pack. Everything
// that was not asked for is refused. It never looks into the pack.
// Source: https://git-scm.com/docs/gitprotocol-v2#_fetch
import { PacketError, type PacketLine, packetLines } from '../../../packet-lines.ts'

export type PackAnswer = {
  /** Whether the commit has parents, which are not in the pack. */
  readonly shallow: boolean
  readonly pack: AsyncIterable<Buffer>
}

/** What the server says instead of an answer: the text of its `ERR` line, or of its error channel. */
export class ServerError extends Error {}

/** Channels of the multiplexed pack (side-band-64k). */
const channels = { pack: 1, progress: 2, error: 3 } as const

function textOf(line: PacketLine): string {
  return line.kind === 'data' ? line.data.toString('utf8').trimEnd() : line.kind
}

/** The next line; an `ERR` line may come wherever a line is expected. */
async function next(lines: AsyncGenerator<PacketLine>): Promise<PacketLine> {
  const { value, done } = await lines.next()
  if (done) throw new PacketError('the answer has no end')
  const text = value.kind === 'data' && value.data.length <= 4096 ? textOf(value) : ''
  if (text.startsWith('ERR ')) throw new ServerError(text.slice(4, 304))
  return value
}

/** After the line `shallow-info`: with a depth of 1 the commit itself is the only one whose parents are left out. */
async function readShallow(lines: AsyncGenerator<PacketLine>, commit: string): Promise<boolean> {
  let shallow = false
  for (let line = await next(lines); line.kind === 'data'; line = await next(lines)) {
    if (textOf(line) !== `shallow ${commit}`) throw new PacketError('the answer is about other commits than the one asked for')
    shallow = true
  }
  return shallow
}

async function* readPack(lines: AsyncGenerator<PacketLine>): AsyncGenerator<Buffer> {
  for (let line = await next(lines); line.kind === 'data'; line = await next(lines)) {
    const channel = line.data[0]
    const content = line.data.subarray(1)
    if (channel === channels.pack && content.length > 0) yield content
    else if (channel === channels.error) throw new ServerError(content.toString('utf8', 0, 300).trimEnd())
  }
}

/**
 * Resolves when the pack begins. Rejects, as does the pack, with a ServerError when the server says what is wrong, and with a
 * PacketError for anything that is not the answer to one commit with a depth of 1.
 */
export async function readPackAnswer(stream: AsyncIterable<Uint8Array>, commit: string): Promise<PackAnswer> {
  const lines = packetLines(stream)
  let section = textOf(await next(lines))
  let shallow = false
  if (section === 'shallow-info') {
    shallow = await readShallow(lines, commit)
    section = textOf(await next(lines))
  }
  if (section !== 'packfile') throw new PacketError('the answer has no pack')
  return { shallow, pack: readPack(lines) }
}
