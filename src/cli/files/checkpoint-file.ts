// Reads signed checkpoints of the audit log that a user kept: one statement per line, the lines that the platform writes to a
// folder or bucket, or its ConfigMap in the form of `kubectl get -o json`; of a folder all files with such lines, also below it.
// Every statement must be valid.
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type CheckpointKeys, mergedKeys, verifyCheckpoint } from '../../identity/oidc/audit-checkpoint.ts'
import { keptStatements } from '../../identity/oidc/kept-statements.ts'
import { AppError, isAppError } from '../../lib/errors.ts'
import type { AttestedHead } from '../../lib/hash-chain/attested-heads.ts'
import { asObject, listAt, parseJson } from '../../lib/json/json-value.ts'
import { readTextFile } from './private-file.ts'

const maxStatements = 100_000
const linesEnding = '.jsonl'

/** The heads that a file attests, and the keys that are kept in it. */
export type KeptCheckpoints = { readonly heads: readonly AttestedHead[]; readonly keySets: readonly CheckpointKeys[] }

export const noCheckpoints: KeptCheckpoints = { heads: [], keySets: [] }

/** As `checkpointsIn`, of the file that `--checkpoint` names. */
export async function readCheckpoints(file: string, keys: CheckpointKeys, issuer: string): Promise<KeptCheckpoints> {
  return checkpointsIn(await textOf(file), keys, issuer)
}

/** The statements of the file that `--checkpoint` names, as they are. */
export async function readStatements(file: string): Promise<readonly string[]> {
  return keptStatements(await textOf(file)).statements
}

async function textOf(file: string): Promise<string> {
  const text = (await isFolder(file)) ? await textIn(file) : await readTextFile(file)
  if (text !== undefined) return text
  throw new AppError('invalid_request', `--checkpoint: the file ${file} does not exist`)
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() === true
}

/** One file after the other: a copied bucket has one for each minute. */
async function textIn(folder: string): Promise<string> {
  const found = await readdir(folder, { recursive: true })
  const files = found.filter(name => name.endsWith(linesEnding)).toSorted()
  if (files.length > maxStatements) throw tooMany(files.length, 'files')
  const texts: string[] = []
  for (const name of files) texts.push((await readTextFile(join(folder, name))) ?? '')
  return texts.join('\n')
}

function tooMany(count: number, what: string): AppError {
  return new AppError('invalid_request', `--checkpoint: there are ${count} ${what}; there must be 1 to ${maxStatements}`)
}

/**
 * The heads that the statements in a checkpoint file sign. A statement must be signed by a current key of the platform, or by a
 * key kept in the same file (a key that has been rotated out since): whoever kept the file vouches for those. Throws
 * `integrity_violation` for a statement with another signature, `invalid_request` for a file without statements.
 */
export async function checkpointsIn(text: string, keys: CheckpointKeys, issuer: string): Promise<KeptCheckpoints> {
  const { statements, kept } = keptStatements(text)
  if (statements.length === 0 || statements.length > maxStatements) throw tooMany(statements.length, 'statements')
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
  const keySets = published.length > 0 ? [{ keys: published as CheckpointKeys['keys'] }] : keptStatements(text).kept
  if (keySets.some(({ keys }) => keys.length > 0)) return mergedKeys(...keySets)
  throw new AppError('invalid_request', `--keys: ${file} is neither a key set (JSON with keys) nor has keys beside checkpoints`)
}
