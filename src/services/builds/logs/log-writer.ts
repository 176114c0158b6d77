// Writes one log to the store: cuts text into chunks, rewrites the last chunk while it grows, drops what is above the limits,
// and stores how far the log was read in the same transaction. It holds what is not written yet, which the caller keeps small
// by flushing when `full`.

import type { JsonValue } from '../../../lib/json/canonical-json.ts'
import type { BuildLogs, ChunkExtent, NewChunk, OpenLog } from '../../../store/builds/build-logs.ts'
import type { BuildStep } from '../../../store/builds/build-record.ts'
import { compressText, maxChunkBytes } from '../../../store/builds/log-text.ts'
import { chunksToDrop, type LogLimits } from './kept-chunks.ts'

/** Where reading goes on, and what is known of the steps. */
export type LogProgress = { readonly position: JsonValue; readonly steps: readonly BuildStep[] }

export type LogWriter = {
  /** Appends text of a step. Nothing is written before `flush`. */
  readonly add: (step: string, text: string) => void
  /** True when so much waits that the caller must flush before it reads on. */
  readonly full: () => boolean
  /**
   * Writes what was added. Rejects with `conflict` when another process writes this log, and as the database does: then begin
   * again.
   */
  readonly flush: (progress: LogProgress) => Promise<void>
}

export type LogWriterDeps = {
  readonly logs: Pick<BuildLogs, 'append'>
  readonly limits: LogLimits
  readonly count: (written: { readonly bytes: number; readonly leftOut: number }) => void
}

type Text = { readonly step: string; readonly bytes: Buffer }

const maxWaiting = 8 * maxChunkBytes

/** The length of the next chunk: up to a line's end where there is one, and never inside a character (UTF-8). */
function lengthOfChunk(bytes: Buffer): number {
  if (bytes.length <= maxChunkBytes) return bytes.length
  const line = bytes.lastIndexOf(10, maxChunkBytes - 1) + 1
  if (line > 0) return line
  let length = maxChunkBytes
  while (((bytes[length] ?? 0) & 0xc0) === 0x80) length -= 1
  return length
}

/** The newest chunk, which is rewritten while it has room. */
type Newest = Text & { readonly sequence: number; readonly firstByte: number }

type Cut = { readonly put: readonly NewChunk[]; readonly newest: Newest | undefined }

/**
 * Cuts texts into chunks that follow `newest`, which is one of them when it grows. `at` is the byte and `sequence` the number
 * of the next one.
 */
function cutInto(texts: readonly Text[], newest: Newest | undefined, next: { at: number; sequence: number }): Cut {
  const put: NewChunk[] = []
  let last = newest
  let { at, sequence } = next
  for (const { step, bytes } of texts) {
    const grown = last !== undefined && last.step === step && last.bytes.length < maxChunkBytes ? last : undefined
    let rest = grown === undefined ? bytes : Buffer.concat([grown.bytes, bytes])
    for (let place = grown; rest.length > 0; place = undefined) {
      const content = rest.subarray(0, lengthOfChunk(rest))
      last = { sequence: place?.sequence ?? sequence, firstByte: place?.firstByte ?? at, step, bytes: content }
      if (place === undefined) sequence += 1
      at = last.firstByte + content.length
      const { sequence: number, firstByte } = last
      put.push({ sequence: number, firstByte, step, endByte: at, content: compressText(content) })
      rest = rest.subarray(content.length)
    }
  }
  return { put, newest: last }
}

function sizeOf(chunks: readonly ChunkExtent[]): number {
  return chunks.reduce((sum, { firstByte, endByte }) => sum + endByte - firstByte, 0)
}

/** Goes on with an open log. */
export function createLogWriter({ logs, limits, count }: LogWriterDeps, open: OpenLog): LogWriter {
  let { revision } = open
  let chunks: readonly ChunkExtent[] = open.chunks
  let total = open.record.bytes
  /** A chunk of an earlier process does not grow. */
  let newest: Newest | undefined
  let waiting: Text[] = []
  let waitingBytes = 0
  let written: string | undefined

  return {
    add(step, text) {
      const bytes = Buffer.from(text)
      waiting.push({ step, bytes })
      waitingBytes += bytes.length
    },
    full: () => waitingBytes >= maxWaiting,
    async flush(progress) {
      const text = JSON.stringify(progress)
      if (waitingBytes === 0 && text === written) return
      const next = { at: total, sequence: (chunks.at(-1)?.sequence ?? -1) + 1 }
      const cut = cutInto(joined(waiting), newest, next)
      const replaced = new Set(cut.put.map(({ sequence }) => sequence))
      const added = cut.put.map(({ content, ...extent }) => ({ ...extent, size: content.length }))
      const all = [...chunks.filter(({ sequence }) => !replaced.has(sequence)), ...added]
      const drop = new Set(chunksToDrop(all, limits))
      const kept = all.filter(({ sequence }) => !drop.has(sequence))
      const bytes = total + waitingBytes
      const leftOut = bytes - sizeOf(kept)
      revision = await logs.append(open.record.id, revision, {
        ...progress,
        put: cut.put.filter(({ sequence }) => !drop.has(sequence)),
        drop: [...drop],
        bytes,
        leftOut,
        stored: kept.reduce((sum, { size }) => sum + size, 0),
      })
      count({ bytes: bytes - total, leftOut: leftOut - (total - sizeOf(chunks)) })
      chunks = kept
      total = bytes
      newest = cut.newest
      waiting = []
      waitingBytes = 0
      written = text
    },
  }
}

/** Texts of the same step in a row as one. */
function joined(texts: readonly Text[]): readonly Text[] {
  const groups: { step: string; parts: Buffer[] }[] = []
  for (const { step, bytes } of texts) {
    const group = groups.at(-1)
    if (group?.step === step) group.parts.push(bytes)
    else groups.push({ step, parts: [bytes] })
  }
  return groups.map(({ step, parts }) => ({ step, bytes: Buffer.concat(parts) }))
}
