// The head of the audit log that was verified last on this computer, with the statement by which the platform signed it: the
// next verification finds by it what was changed or removed since, and an acknowledgement proves by it what is missing.
import { join } from 'node:path'
import type { ChainHead } from '../../lib/hash-chain/hash-chain.ts'
import { integerAt, isJsonObject, textAt } from '../../lib/json/json-value.ts'
import { shortHash } from '../../lib/text/bounded-name.ts'
import type { CliSettings } from '../config.ts'
import { readJsonFile, writePrivateFile } from './private-file.ts'

/**
 * `statement` is there when the platform signed this very head; `completeAt` is when all entries up to it were read last.
 */
export type RememberedHead = ChainHead & {
  readonly attestedAt: Date
  readonly statement?: string
  readonly completeAt?: Date | undefined
}
type Stored = ChainHead & { readonly attestedAt: string; readonly statement?: string; readonly completeAt?: string }

export function isHead(value: unknown): value is ChainHead {
  return isJsonObject(value) && integerAt(value, 'sequence') !== undefined && textAt(value, 'hash') !== undefined
}

function isStored(value: unknown): value is Stored {
  if (!isJsonObject(value)) return false
  const { attestedAt, statement, completeAt } = value
  const isComplete = completeAt === undefined || isTime(completeAt)
  return isHead(value) && isTime(attestedAt) && isComplete && (statement === undefined || typeof statement === 'string')
}

function isTime(value: unknown): boolean {
  return typeof value === 'string' && !Number.isNaN(Date.parse(value))
}

/** Undefined before the first verification of that platform. */
export async function rememberedHead(settings: CliSettings): Promise<RememberedHead | undefined> {
  const found = await readJsonFile(fileOf(settings), isStored)
  if (found === undefined) return undefined
  const { attestedAt, completeAt, ...head } = found
  return {
    ...head,
    attestedAt: new Date(attestedAt),
    ...(completeAt === undefined ? {} : { completeAt: new Date(completeAt) }),
  }
}

export async function rememberHead(settings: CliSettings, head: RememberedHead): Promise<void> {
  await writePrivateFile(fileOf(settings), `${JSON.stringify(head)}\n`)
}

function fileOf({ folders, issuer }: CliSettings): string {
  return join(folders.state, `audit-head-${shortHash(issuer, 16)}.json`)
}
