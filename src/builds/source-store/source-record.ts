// What is known about one source on disk: `<data>/sources/<fingerprint>/{source.json,source.git}`. Holds no secret and no URL.
// A file that cannot be read as a record is treated as no source: it is deleted, never served.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

export type SourceRecord = {
  readonly namespace: string
  readonly build: string
  readonly commit: string
  /** The uid of the object on whose behalf it was fetched. */
  readonly owner: string
  readonly bytes: number
  readonly expiresAt: string
}

export const recordFile = 'source.json'
export const repositoryFolder = 'source.git'

function isRecord(value: unknown): value is SourceRecord {
  if (typeof value !== 'object' || value === null) return false
  const texts = ['namespace', 'build', 'commit', 'owner', 'expiresAt']
  const fields = new Map(Object.entries(value))
  return texts.every(name => typeof fields.get(name) === 'string') && Number.isSafeInteger(fields.get('bytes'))
}

/** undefined when there is none, or none that can be trusted. */
export async function readRecord(folder: string): Promise<SourceRecord | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(join(folder, recordFile), 'utf8'))
    return isRecord(value) && !Number.isNaN(Date.parse(value.expiresAt)) ? value : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return undefined
    throw error
  }
}

export function isExpired(record: SourceRecord, now: Date): boolean {
  return Date.parse(record.expiresAt) <= now.getTime()
}
