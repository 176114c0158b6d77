// The record of one source on disk: `<data>/sources/<fingerprint>/{source.json,source.git}`. Holds no secret and no URL.
// A folder without a valid record is deleted and never served.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { asObject, integerAt, textAt } from '../../../lib/json/json-value.ts'

export type SourceRecord = {
  readonly namespace: string
  readonly build: string
  readonly commit: string
  /** The uid of the object for which it was fetched. */
  readonly owner: string
  readonly bytes: number
  readonly expiresAt: string
}

export const recordFile = 'source.json'
export const repositoryFolder = 'source.git'

function isRecord(value: unknown): value is SourceRecord {
  const record = asObject(value)
  const texts = ['namespace', 'build', 'commit', 'owner', 'expiresAt']
  const complete = texts.every(field => textAt(record, field) !== undefined) && integerAt(record, 'bytes') !== undefined
  return complete && !Number.isNaN(Date.parse(textAt(record, 'expiresAt') ?? ''))
}

/** undefined when there is no record or it is not valid. Rejects when the disk fails. */
export async function readRecord(folder: string): Promise<SourceRecord | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(join(folder, recordFile), 'utf8'))
    return isRecord(value) ? value : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return undefined
    throw error
  }
}

/** Whether the source must not be served any more. */
export function isExpired(record: SourceRecord, now: Date): boolean {
  return Date.parse(record.expiresAt) <= now.getTime()
}
