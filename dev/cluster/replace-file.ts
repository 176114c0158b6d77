// Writes a configuration file so that a program watching it sees the old text or the new one, never half of it, and nothing when
// nothing changed. Readable by its owner only: many of these files hold keys.
import { readFile, rename, writeFile } from 'node:fs/promises'

export async function replaceFile(path: string, text: string): Promise<void> {
  const present = await readFile(path, 'utf8').catch(() => undefined)
  if (present === text) return
  await writeFile(`${path}.new`, text, { mode: 0o600 })
  await rename(`${path}.new`, path)
}
