// Files that only the person may read: written whole or not at all, mode 0600 in folders of mode 0700.
import { randomBytes } from 'node:crypto'
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
}

export async function readTextFile(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
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

export async function writePrivateFile(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const temporary = `${path}.${randomBytes(6).toString('hex')}`
  await writeFile(temporary, text, { mode: 0o600, flag: 'wx' })
  await chmod(temporary, 0o600)
  await rename(temporary, path)
}

export async function removeFile(path: string): Promise<void> {
  await rm(path, { force: true })
}
