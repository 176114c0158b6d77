// Reads signed checkpoints of the audit log that somebody kept: statements one a line, or the ConfigMap of the platform as `kubectl get -o json`
// shows it. Owns the form of the file and that every statement in it holds; one that does not makes the whole file worthless.

import { type CheckpointKeys, verifyCheckpoint } from '../../identity/oidc/audit-checkpoint.ts'
import { AppError, isAppError } from '../../lib/errors.ts'
import type { ChainHead } from '../../lib/hash-chain.ts'

const mostStatements = 10_000
const keysField = 'keys.json'

/**
 * The platform's present keys decide. A statement by a key that has gone out of use since holds by the keys kept in the same file: whoever
 * kept it vouches for those. Throws `integrity_violation` for a statement that does not hold, `invalid_request` for a file without any.
 */
export async function checkpointsIn(text: string, keys: CheckpointKeys, issuer: string): Promise<readonly ChainHead[]> {
  const { statements, kept } = contentOf(text)
  if (statements.length === 0 || statements.length > mostStatements)
    throw new AppError(
      'invalid_request',
      `a checkpoint file holds 1 to ${mostStatements} statements, this one ${statements.length}`,
    )
  const heads: ChainHead[] = []
  for (const statement of statements) heads.push(await verified(statement, [keys, ...kept], issuer))
  return heads
}

async function verified(statement: string, keySets: readonly CheckpointKeys[], issuer: string): Promise<ChainHead> {
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

function contentOf(text: string): { readonly statements: readonly string[]; readonly kept: readonly CheckpointKeys[] } {
  if (!text.trimStart().startsWith('{')) return { statements: text.split(/\s+/).filter(line => line !== ''), kept: [] }
  const data = dataOf(text)
  const statements = Object.entries(data).flatMap(([name, value]) => (name.startsWith('entry-') ? [value] : []))
  const kept = data[keysField]
  return { statements, kept: kept === undefined ? [] : [JSON.parse(kept) as CheckpointKeys] }
}

function dataOf(text: string): Readonly<Record<string, string>> {
  try {
    const { data } = JSON.parse(text) as { readonly data?: unknown }
    if (typeof data === 'object' && data !== null && Object.values(data).every(value => typeof value === 'string'))
      return data as Readonly<Record<string, string>>
  } catch (cause) {
    throw new AppError('invalid_request', 'the checkpoint file begins like JSON and is none', { cause })
  }
  throw new AppError('invalid_request', 'the checkpoint file is JSON, but no ConfigMap with data')
}
