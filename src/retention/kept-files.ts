// Reads checkpoints that were kept outside of the database: a file, or the folder as which a pod gets the ConfigMap.
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type CheckpointKeys, mergedKeys } from '../identity/oidc/audit-checkpoint.ts'
import { keptStatements } from '../identity/oidc/kept-statements.ts'
import { AppError, messageOf } from '../lib/errors.ts'

export type KeptFiles = { readonly statements: readonly string[]; readonly keys: CheckpointKeys }

/** Rejects with `invalid_request`, which names the path, for one that cannot be read or has no keys. */
export async function readKeptFiles(path: string): Promise<KeptFiles> {
  const text = await contentOf(path)
  const { statements, kept } = keptStatements(text)
  const keys = mergedKeys(...kept)
  if (keys.keys.length > 0) return { statements, keys }
  throw new AppError(
    'invalid_request',
    `--checkpoints: ${path} has no keys: give the ConfigMap sekisho-audit-checkpoints (kubectl get -o json)`,
  )
}

async function contentOf(path: string): Promise<string> {
  try {
    if (!(await stat(path)).isDirectory()) return await readFile(path, 'utf8')
    // Kubernetes keeps versions of the files in folders whose names begin with dots.
    const names = (await readdir(path)).filter(name => !name.startsWith('.'))
    const fields = await Promise.all(names.map(async name => [name, await readFile(join(path, name), 'utf8')] as const))
    return JSON.stringify({ data: Object.fromEntries(fields) })
  } catch (cause) {
    throw new AppError('invalid_request', `--checkpoints: ${path} cannot be read: ${messageOf(cause)}`, { cause })
  }
}
