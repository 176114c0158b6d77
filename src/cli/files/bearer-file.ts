// The token of a ServiceAccount as Kubernetes mounts it into a pod: read again whenever it is used, because the kubelet replaces
// the file before the token ends.
import { AppError } from '../../lib/errors.ts'
import { readTextFile } from './private-file.ts'

/** Rejects with `invalid_configuration`, which names the file and never shows its content, when it has no token. */
export async function readBearerFile(path: string): Promise<string> {
  const text = (await readTextFile(path))?.trim()
  if (text !== undefined && /^[A-Za-z0-9._-]{20,16384}$/.test(text)) return text
  const what = text === undefined ? 'does not exist' : 'does not contain a token'
  throw new AppError('invalid_configuration', `the file of --token-file ${what}: ${path}`)
}
