// Files that only the person may read: written whole or not at all, mode 0600 in folders of mode 0700.
import { randomBytes } from 'node:crypto'
import { chmod, mkdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { AppError, messageOf } from '../../lib/errors.ts'

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
}

/** The system's own text does not always name the file. */
function unusable(path: string, what: 'read' | 'written', cause: unknown): AppError {
  return new AppError('invalid_configuration', `${path} cannot be ${what}: ${messageOf(cause)}`, { cause })
}

/** Undefined when there is no such file; throws `invalid_configuration` that names it when it cannot be read. */
export async function readTextFile(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (isMissing(error)) return undefined
    throw unusable(path, 'read', error)
  }
}

/** Undefined when the file is missing or is not what `accepts` expects: then it is written anew. */
export async function readJsonFile<T>(path: string, accepts: (value: unknown) => value is T): Promise<T | undefined> {
  const text = await readTextFile(path)
  if (text === undefined) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return accepts(value) ? value : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** Where a link leads: people keep their kubeconfig elsewhere and link to it. */
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

/** Throws `invalid_configuration` that names the file; what was there before is then still there. */
export async function writePrivateFile(path: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    await replaceFile(await targetOf(path), text)
  } catch (error) {
    throw unusable(path, 'written', error)
  }
}

export async function removeFile(path: string): Promise<void> {
  await rm(path, { force: true })
}
