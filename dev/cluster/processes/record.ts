// The record of a started process, one JSON file each, so that a later run can check, restart or end it.
// A record is replaced by rename; a file that is incomplete or in another form counts as absent.
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isJsonObject } from '../../../src/lib/json/json-value.ts'
import type { ProcessIdentity } from './identity.ts'

export type ProcessRecord = ProcessIdentity & {
  readonly name: string
  /** Digest of arguments, environment and configuration files; a difference requires a restart. */
  readonly fingerprint: string
  readonly startedAt: string
  /** What asks it to end; SIGTERM when absent. */
  readonly stopSignal?: StopSignal
}

export type StopSignal = 'SIGINT'

function identityOf(value: unknown): ProcessIdentity | undefined {
  if (!isJsonObject(value)) return undefined
  const { pid, executable, startTicks, bootId } = value
  if (typeof pid !== 'number' || typeof startTicks !== 'number' || typeof executable !== 'string' || typeof bootId !== 'string')
    return undefined
  return { pid, executable, startTicks, bootId }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export function parseRecord(text: string): ProcessRecord | undefined {
  const value = parseJson(text)
  const identity = identityOf(value)
  if (identity === undefined || !isJsonObject(value)) return undefined
  const { name, fingerprint, startedAt, stopSignal } = value
  if (typeof name !== 'string' || typeof fingerprint !== 'string' || typeof startedAt !== 'string') return undefined
  return { ...identity, name, fingerprint, startedAt, ...(stopSignal === 'SIGINT' && { stopSignal }) }
}

export async function readRecord(folder: string, name: string): Promise<ProcessRecord | undefined> {
  return readFile(join(folder, `${name}.json`), 'utf8').then(parseRecord, () => undefined)
}

export async function readRecords(folder: string): Promise<readonly ProcessRecord[]> {
  const names = await readdir(folder).catch(() => [])
  const records = await Promise.all(
    names.filter(name => name.endsWith('.json')).map(name => readRecord(folder, name.slice(0, -5))),
  )
  return records.filter(record => record !== undefined)
}

export async function writeRecord(folder: string, record: ProcessRecord): Promise<void> {
  await mkdir(folder, { recursive: true })
  const path = join(folder, `${record.name}.json`)
  await writeFile(`${path}.new`, `${JSON.stringify(record, null, 2)}\n`)
  await rename(`${path}.new`, path)
}

export async function removeRecord(folder: string, name: string): Promise<void> {
  await rm(join(folder, `${name}.json`), { force: true })
}
