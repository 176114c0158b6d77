// The head of the audit log that was verified last on this computer, with the statement by which the platform signed it: the next verification finds
// by it what was changed or removed since, and an acknowledgement proves by it what is missing.
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { AttestedHead } from '../../lib/hash-chain/attested-heads.ts'
import type { ChainHead } from '../../lib/hash-chain/hash-chain.ts'
import { defined } from '../../lib/json/defined.ts'
import { integerAt, isJsonObject, textAt } from '../../lib/json/json-value.ts'
import type { CliSettings } from '../config.ts'
import { readJsonFile, writePrivateFile } from './private-file.ts'

/** What earlier versions wrote has neither statement nor time. */
export type RememberedHead = AttestedHead & { readonly statement?: string }

export function isHead(value: unknown): value is ChainHead {
  return isJsonObject(value) && integerAt(value, 'sequence') !== undefined && textAt(value, 'hash') !== undefined
}

/** Undefined before the first verification of that platform. */
export async function rememberedHead(settings: CliSettings): Promise<RememberedHead | undefined> {
  const found = await readJsonFile(fileOf(settings), isHead)
  if (found === undefined) return undefined
  const { sequence, hash } = found
  const [attestedAt, statement] = [textAt(found, 'attestedAt'), textAt(found, 'statement')]
  return {
    sequence,
    hash,
    ...(attestedAt === undefined ? {} : { attestedAt: new Date(attestedAt) }),
    ...defined({ statement }),
  }
}

export async function rememberHead(settings: CliSettings, head: RememberedHead): Promise<void> {
  await writePrivateFile(fileOf(settings), `${JSON.stringify(head)}\n`)
}

function fileOf({ folders, issuer }: CliSettings): string {
  return join(folders.state, `audit-head-${createHash('sha256').update(issuer).digest('hex').slice(0, 16)}.json`)
}
