// What a git server reports of a push, read beside the stream that passes, and what the proxy itself reports when it refuses
// refs. Reading is bounded: a report that is not understood has no result, and passes all the same. Pure.
// Source: https://git-scm.com/docs/gitprotocol-pack#_report_status
import { createPacketSplitter, flushPacket, type PacketSplitter, packetBytes, packetLine } from '../../packet-lines.ts'
import type { PushCommands } from './commands.ts'

/** `unknown`: the server did not say, or the answer broke off. */
export type RefResult = { readonly result: 'ok' | 'refused' | 'unknown'; readonly reason: string }

export type ReportReader = {
  readonly add: (piece: Uint8Array) => void
  /** By what was read until now. */
  readonly resultOf: (ref: string) => RefResult
}

/** Channels of the multiplexed answer (side-band-64k). */
const reportChannel = 1
const maxReportBytes = 256 * 1024
const maxReason = 300
const unknown: RefResult = { result: 'unknown', reason: 'GitHub did not say what became of it' }

/** Nothing read. */
export function createReportReader({ capabilities }: Pick<PushCommands, 'capabilities'>): ReportReader {
  const isMultiplexed = capabilities.includes('side-band-64k')
  const outer = createPacketSplitter()
  const inner = isMultiplexed ? createPacketSplitter() : outer
  const results = new Map<string, RefResult>()
  let unpacked: string | undefined
  let bytes = 0
  let isOver = false

  const readLines = (lines: PacketSplitter): void => {
    for (let line = lines.next(); line !== undefined; line = lines.next()) {
      if (line.kind !== 'data') return
      const [word = '', subject = '', ...rest] = line.data.toString('utf8').replace(/\n$/, '').split(' ')
      if (word === 'unpack') unpacked = [subject, ...rest].join(' ').slice(0, maxReason)
      else if (word === 'ok') results.set(subject, { result: 'ok', reason: 'GitHub took it' })
      else if (word === 'ng') results.set(subject, { result: 'refused', reason: rest.join(' ').slice(0, maxReason) })
    }
  }
  const readChannels = (): void => {
    for (let line = outer.next(); line !== undefined; line = outer.next()) {
      if (line.kind !== 'data' || line.data[0] !== reportChannel) continue
      bytes += line.data.length
      if (bytes > maxReportBytes) throw new Error('the report is too large')
      // A copy: the piece that it came with is not held.
      inner.push(Buffer.from(line.data.subarray(1)))
      readLines(inner)
    }
  }
  return {
    add(piece) {
      if (isOver) return
      try {
        if (!isMultiplexed) bytes += piece.length
        if (bytes > maxReportBytes) throw new Error('the report is too large')
        outer.push(piece)
        if (isMultiplexed) readChannels()
        else readLines(outer)
      } catch {
        isOver = true
      }
    },
    resultOf(ref) {
      const found = results.get(ref) ?? unknown
      // git takes no ref when the pack could not be used, whatever it says of each.
      return unpacked === undefined ? unknown : unpacked === 'ok' ? found : { result: 'refused', reason: `unpack: ${unpacked}` }
    },
  }
}

/** The report that git shows as `! [remote rejected]` with each ref's reason. */
export function refusalReport(commands: PushCommands, reasonOf: (ref: string) => string): Buffer {
  const lines = commands.updates.map(({ ref }) => packetLine(`ng ${ref} ${reasonOf(ref)}\n`))
  const report = Buffer.from(['unpack ok\n'].map(packetLine).concat(lines, flushPacket).join(''))
  if (!commands.capabilities.includes('side-band-64k')) return report
  const pieces: Buffer[] = []
  for (let at = 0; at < report.length; at += 60_000)
    pieces.push(packetBytes(Buffer.concat([Buffer.of(reportChannel), report.subarray(at, at + 60_000)])))
  return Buffer.concat([...pieces, Buffer.from(flushPacket)])
}
