// Files that only the user may read: written atomically, with mode 0600 in folders of mode 0700.
import { randomBytes } from 'node:crypto'
import { chmod, mkdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { AppError, messageOf } from '../../lib/errors.ts'
import { parseJson } from '../../lib/json/json-value.ts'

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
}

/** Names the file, which the message of the system does not always do. */
function unusable(path: string, what: 'read' | 'written', cause: unknown): AppError {
  return new AppError('invalid_configuration', `${path} cannot be ${what}: ${messageOf(cause)}`, { cause })
}

/**
 * Resolves to undefined when the file does not exist; rejects with `invalid_configuration`, which names it, when it cannot be
 * read.
 */
export async function readTextFile(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (isMissing(error)) return undefined
    throw unusable(path, 'read', error)
  }
}

/** Resolves to undefined when the file does not exist or `accepts` rejects its content: the caller then writes it again. */
export async function readJsonFile<T>(path: string, accepts: (value: unknown) => value is T): Promise<T | undefined> {
  const value = parseJson((await readTextFile(path)) ?? '')
  return accepts(value) ? value : undefined
}

/** Follows symbolic links: some users link to a kubeconfig that is kept elsewhere. */
async function targetOf(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    if (isMissing(error)) return path
    throw error
  }
}

async function replaceFile(target: string, text: string): Promise<void> {
  const temporary = `${target}.${randomBytes(6).toString('hex')}`
  try {
    await writeFile(temporary, text, { mode: 0o600, flag: 'wx' })
    await chmod(temporary, 0o600)
    await rename(temporary, target)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}

/** Rejects with `invalid_configuration`, which names the file; its former content is then unchanged. */
export async function writePrivateFile(path: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    await replaceFile(await targetOf(path), text)
  } catch (error) {
    throw unusable(path, 'written', error)
  }
}

/** Succeeds also when the file does not exist. */
export async function removeFile(path: string): Promise<void> {
  await rm(path, { force: true })
}
