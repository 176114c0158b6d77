// The head of the audit log that was verified last on this computer, with the statement by which the platform signed it: the
// next verification finds by it what was changed or removed since, and an acknowledgement proves by it what is missing.
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { ChainHead } from '../../lib/hash-chain/hash-chain.ts'
import { integerAt, isJsonObject, textAt } from '../../lib/json/json-value.ts'
import type { CliSettings } from '../config.ts'
import { readJsonFile, writePrivateFile } from './private-file.ts'

/** `statement` is there when the platform signed this very head. */
export type RememberedHead = ChainHead & { readonly attestedAt: Date; readonly statement?: string }
type Stored = ChainHead & { readonly attestedAt: string; readonly statement?: string }

export function isHead(value: unknown): value is ChainHead {
  return isJsonObject(value) && integerAt(value, 'sequence') !== undefined && textAt(value, 'hash') !== undefined
}

function isStored(value: unknown): value is Stored {
  if (!isJsonObject(value)) return false
  const { attestedAt, statement } = value
  const isTime = typeof attestedAt === 'string' && !Number.isNaN(Date.parse(attestedAt))
  return isHead(value) && isTime && (statement === undefined || typeof statement === 'string')
}

/** Undefined before the first verification of that platform. */
export async function rememberedHead(settings: CliSettings): Promise<RememberedHead | undefined> {
  const found = await readJsonFile(fileOf(settings), isStored)
  return found && { ...found, attestedAt: new Date(found.attestedAt) }
}

export async function rememberHead(settings: CliSettings, head: RememberedHead): Promise<void> {
  await writePrivateFile(fileOf(settings), `${JSON.stringify(head)}\n`)
}

function fileOf({ folders, issuer }: CliSettings): string {
  return join(folders.state, `audit-head-${createHash('sha256').update(issuer).digest('hex').slice(0, 16)}.json`)
}
