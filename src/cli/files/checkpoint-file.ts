// Reads signed checkpoints of the audit log that a user kept: one statement per line, the lines that the platform writes to a
// folder or bucket, or its ConfigMap in the form of `kubectl get -o json`. Every statement in the file must be valid.
import { type CheckpointKeys, mergedKeys, verifyCheckpoint } from '../../identity/oidc/audit-checkpoint.ts'
import { AppError, isAppError } from '../../lib/errors.ts'
import type { AttestedHead } from '../../lib/hash-chain/attested-heads.ts'
import { asObject, listAt, objectAt, parseJson, textAt } from '../../lib/json/json-value.ts'
import { readTextFile } from './private-file.ts'

const maxStatements = 10_000
const keysField = 'keys.json'

/** The heads that a file attests, and the keys that are kept in it. */
export type KeptCheckpoints = { readonly heads: readonly AttestedHead[]; readonly keySets: readonly CheckpointKeys[] }

export const noCheckpoints: KeptCheckpoints = { heads: [], keySets: [] }

/** As `checkpointsIn`, of the file that `--checkpoint` names. */
export async function readCheckpoints(file: string, keys: CheckpointKeys, issuer: string): Promise<KeptCheckpoints> {
  return checkpointsIn(await textOf(file), keys, issuer)
}

/** The statements of the file that `--checkpoint` names, as they are. */
export async function readStatements(file: string): Promise<readonly string[]> {
  return contentOf(await textOf(file)).statements
}

async function textOf(file: string): Promise<string> {
  const text = await readTextFile(file)
  if (text !== undefined) return text
  throw new AppError('invalid_request', `--checkpoint: the file ${file} does not exist`)
}

/**
 * The heads that the statements in a checkpoint file sign. A statement must be signed by a current key of the platform, or by a
 * key kept in the same file (a key that has been rotated out since): whoever kept the file vouches for those. Throws
 * `integrity_violation` for a statement with another signature, `invalid_request` for a file without statements.
 */
export async function checkpointsIn(text: string, keys: CheckpointKeys, issuer: string): Promise<KeptCheckpoints> {
  const { statements, kept } = contentOf(text)
  if (statements.length === 0 || statements.length > maxStatements)
    throw new AppError(
      'invalid_request',
      `the checkpoint file contains ${statements.length} statements; it must contain 1 to ${maxStatements}`,
    )
  const heads: AttestedHead[] = []
  for (const statement of statements) heads.push(await verified(statement, [keys, ...kept], issuer))
  return { heads, keySets: kept }
}

async function verified(statement: string, keySets: readonly CheckpointKeys[], issuer: string): Promise<AttestedHead> {
  let refusal: unknown
  for (const keySet of keySets) {
    try {
      return await verifyCheckpoint(statement, keySet, issuer)
    } catch (error) {
      if (!isAppError(error, 'integrity_violation')) throw error
      refusal = error
    }
  }
  throw refusal
}

/**
 * The keys of a file: a key set as the platform publishes it, or those beside checkpoints. Rejects with `invalid_request` for a
 * file without any.
 */
export async function keysIn(file: string): Promise<CheckpointKeys> {
  const text = await readTextFile(file)
  if (text === undefined) throw new AppError('invalid_request', `--keys: the file ${file} does not exist`)
  const published = listAt(asObject(parseJson(text)), 'keys')
  const keySets = published.length > 0 ? [{ keys: published as CheckpointKeys['keys'] }] : contentOf(text).kept
  if (keySets.some(({ keys }) => keys.length > 0)) return mergedKeys(...keySets)
  throw new AppError('invalid_request', `--keys: ${file} is neither a key set (JSON with keys) nor has keys beside checkpoints`)
}

/** A line of the checkpoints that the platform writes to a folder or a bucket: the statement, with the key that signed it. */
function keptLine(text: string): { readonly statement: string; readonly key: CheckpointKeys['keys'][number] | undefined } | undefined {
  const line = asObject(parseJson(text))
  const statement = textAt(line, 'checkpoint')
  return statement === undefined ? undefined : { statement, key: objectAt(line, 'key') as CheckpointKeys['keys'][number] | undefined }
}

function contentOf(text: string): { readonly statements: readonly string[]; readonly kept: readonly CheckpointKeys[] } {
  if (!text.trimStart().startsWith('{')) return { statements: text.split(/\s+/).filter(line => line !== ''), kept: [] }
  const lines = text.split('\n').filter(line => line.trim() !== '')
  const kept = lines.flatMap(line => keptLine(line) ?? [])
  if (kept.length > 0 && kept.length === lines.length)
    return { statements: kept.map(({ statement }) => statement), kept: [{ keys: kept.flatMap(({ key }) => key ?? []) }] }
  const data = dataOf(text)
  const statements = Object.entries(data).flatMap(([name, value]) => (/^(entry|lost)-/.test(name) ? [value] : []))
  const keySet = data[keysField]
  return { statements, kept: keySet === undefined ? [] : [JSON.parse(keySet) as CheckpointKeys] }
}

function dataOf(text: string): Readonly<Record<string, string>> {
  const data = objectAt(parseJson(text), 'data')
  if (data !== undefined && Object.values(data).every(value => typeof value === 'string'))
    return data as Readonly<Record<string, string>>
  throw new AppError('invalid_request', 'the checkpoint file begins with { but is not a ConfigMap with data in JSON')
}
