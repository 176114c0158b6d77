// The list of commands with which a push begins: read before a byte reaches GitHub, bounded, and written again from what was
// understood, so that GitHub never sees a byte of it that was not. Pure; the pack that follows is not looked at.
// Source: https://git-scm.com/docs/gitprotocol-pack#_reference_update_request_and_packfile_transfer
import { AppError } from '../../../lib/errors.ts'
import { createPacketSplitter, flushPacket, packetLine } from '../../packet-lines.ts'

/** One ref and what it shall be: all zeros in `from` creates it, in `to` deletes it. */
export type RefUpdate = { readonly ref: string; readonly from: string; readonly to: string }

export type PushCommands = {
  /** None: git only asks whether the server answers before it sends a large push. */
  readonly updates: readonly RefUpdate[]
  /** Commits whose parents the sender does not have. */
  readonly shallow: readonly string[]
  /** In the order of the list below. */
  readonly capabilities: readonly string[]
}

/** Refs of one push. */
export const maxRefs = 100
const maxShallow = 1000
const maxLineBytes = 1024
/** Of the whole list; more than all lines that are allowed can be. */
const maxListBytes = 256 * 1024

/** What the proxy lets a client ask for. Push options, certificates and what is not known here are refused. */
const known = [
  'report-status',
  'report-status-v2',
  'side-band-64k',
  'quiet',
  'atomic',
  // What other clients than git itself say they use.
  'delete-refs',
  'ofs-delta',
  'object-format=sha1',
  'object-format=sha256',
]
/** What clients say of themselves; it is not passed on. */
const dropped = /^(agent|session-id)=/

const id = '(?:[0-9a-f]{40}|[0-9a-f]{64})'
const command = new RegExp(`^(${id}) (${id}) (.+)$`)
const shallowLine = new RegExp(`^shallow (${id})$`)
const isZero = (text: string): boolean => /^0+$/.test(text)

function refused(message: string): AppError {
  return new AppError('invalid_request', message)
}

/** Collects pieces until the list is whole. */
export type CommandReader = {
  /** The commands and the bytes after them, once the list ends with this piece. @throws AppError `invalid_request` */
  readonly add: (piece: Uint8Array) => { readonly commands: PushCommands; readonly rest: Buffer } | undefined
}

/** Holds at most the list itself and one piece. */
export function createCommandReader(): CommandReader {
  const splitter = createPacketSplitter()
  const lines: Buffer[] = []
  let bytes = 0
  return {
    add(piece) {
      splitter.push(piece)
      for (let line = splitter.next(); line !== undefined; line = splitter.next()) {
        if (line.kind === 'flush') return { commands: readCommands(lines), rest: splitter.rest() }
        if (line.kind !== 'data') throw refused('the list of refs is not of git’s protocol')
        bytes += line.data.length
        if (line.data.length > maxLineBytes) throw refused(`a line of the list of refs is longer than ${maxLineBytes} bytes`)
        if (lines.length >= maxRefs + maxShallow || bytes > maxListBytes) throw tooMany()
        lines.push(line.data)
      }
      return undefined
    },
  }
}

function tooMany(): AppError {
  return refused(`more than ${maxRefs} refs in one push: push them in several`)
}

function readCommands(lines: readonly Buffer[]): PushCommands {
  const shallow: string[] = []
  const updates: RefUpdate[] = []
  let capabilities: readonly string[] = []
  for (const [index, line] of lines.entries()) {
    const text = textOf(line)
    const [content = '', asked] = splitOnce(text, '\0')
    const found = shallowLine.exec(content)?.[1]
    if (found !== undefined && updates.length === 0) shallow.push(found)
    else {
      if (asked !== undefined && updates.length > 0) throw refused('the list of refs is not of git’s protocol')
      if (asked !== undefined) capabilities = readCapabilities(asked)
      updates.push(readUpdate(content, index))
    }
  }
  if (updates.length > maxRefs || shallow.length > maxShallow) throw tooMany()
  checkTogether(updates, shallow, capabilities)
  return { updates, shallow, capabilities }
}

/** Valid UTF-8, without the line feed that may end it. */
function textOf(line: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(line).replace(/\n$/, '')
  } catch {
    throw refused('the name of a ref is not valid UTF-8')
  }
}

function splitOnce(text: string, separator: string): readonly [string, string | undefined] {
  const at = text.indexOf(separator)
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
}

function readCapabilities(text: string): readonly string[] {
  const asked = text.split(' ').filter(word => word !== '' && !dropped.test(word))
  const unknown = asked.find(word => !known.includes(word))
  if (unknown === 'push-options') throw refused('push options (git push -o) do not pass the git proxy')
  if (unknown !== undefined) throw refused('the client asks for something that the git proxy does not pass on')
  return known.filter(word => asked.includes(word))
}

function readUpdate(content: string, line: number): RefUpdate {
  if (content.startsWith('push-cert')) throw refused('signed pushes (git push --signed) do not pass the git proxy')
  const [, from, to, ref] = command.exec(content) ?? []
  if (from === undefined || to === undefined || ref === undefined)
    throw refused(`line ${line + 1} of the list of refs cannot be read`)
  if (isZero(from) && isZero(to)) throw refused(`line ${line + 1} of the list of refs changes nothing`)
  return { ref, from, to }
}

function checkTogether(updates: readonly RefUpdate[], shallow: readonly string[], capabilities: readonly string[]): void {
  if (updates.length === 0) {
    if (shallow.length > 0) throw refused('the list of refs is not of git’s protocol')
    return
  }
  if (new Set(updates.map(({ ref }) => ref)).size !== updates.length) throw refused('a ref is named twice in one push')
  const lengths = new Set([
    ...updates.flatMap(({ from, to }) => [from.length, to.length]),
    ...shallow.map(({ length }) => length),
  ])
  const wanted = capabilities.includes('object-format=sha256') ? 64 : 40
  if (lengths.size !== 1 || !lengths.has(wanted)) throw refused('the ids of the list of refs are of different object formats')
  if (!capabilities.some(word => word.startsWith('report-status'))) throw refused('the client must ask for report-status')
}

/** The list as GitHub gets it. */
export function commandList({ updates, shallow, capabilities }: PushCommands): Buffer {
  const asked = [...capabilities, 'agent=sekisho-git-proxy'].join(' ')
  const lines = updates.map(({ from, to, ref }, index) => packetLine(`${from} ${to} ${ref}${index === 0 ? `\0${asked}` : ''}\n`))
  return Buffer.from([...shallow.map(found => packetLine(`shallow ${found}\n`)), ...lines, flushPacket].join(''))
}

/** Whether objects follow the list: not when it only deletes. */
export function hasPack({ updates }: Pick<PushCommands, 'updates'>): boolean {
  return updates.some(({ to }) => !isZero(to))
}

/** Whether the bytes can be the beginning of a pack, of which git sends versions 2 and 3; undefined while they are too few. */
export function beginsPack(bytes: Buffer): boolean | undefined {
  if (bytes.length < 8) return 'PACK'.startsWith(bytes.toString('latin1', 0, Math.min(4, bytes.length))) ? undefined : false
  return bytes.toString('latin1', 0, 4) === 'PACK' && [2, 3].includes(bytes.readUInt32BE(4))
}
