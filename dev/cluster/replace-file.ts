// Writes a configuration file atomically, so that a program that watches it sees the old or the new text, and only when it
// differs. Its owner only can read it: many of these files contain keys.
import { readFile, rename, writeFile } from 'node:fs/promises'

export async function replaceFile(path: string, text: string): Promise<void> {
  const present = await readFile(path, 'utf8').catch(() => undefined)
  if (present === text) return
  await writeFile(`${path}.new`, text, { mode: 0o600 })
  await rename(`${path}.new`, path)
}
