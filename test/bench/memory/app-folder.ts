// A folder with what the platform's image runs from, built by the image's own recipe, so that what is measured is what is
// shipped.
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { diskFile } from '../../../dev/images/archive/read-tree.ts'
import type { TreeEntry } from '../../../dev/images/archive/tree-entry.ts'
import { plainSource } from '../../../dev/images/recipes/plain-sources.ts'
import { appEntries } from '../../../dev/images/recipes/platform.ts'

const reporter = fileURLToPath(new URL('reporter.ts', import.meta.url))

export type AppFolder = { readonly folder: string; readonly reporter: string }

/** `folder` must not exist. */
export async function makeAppFolder(folder: string, repository: string): Promise<AppFolder> {
  for (const entry of await appEntries(repository)) await writeEntry(folder, entry)
  await symlink(join(repository, 'node_modules'), join(folder, 'node_modules'))
  // With types it would bring the compiler into the measured process.
  const plain = join(folder, 'reporter.mjs')
  await writeFile(plain, await contentOf(await plainSource(await diskFile('reporter.ts', reporter))))
  return { folder, reporter: plain }
}

/** Paths of the image begin with its folder for the platform. */
async function writeEntry(folder: string, entry: TreeEntry): Promise<void> {
  const path = join(folder, ...entry.path.split('/').slice(1))
  if (entry.kind !== 'file') return
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, await contentOf(entry))
}

async function contentOf(entry: TreeEntry): Promise<Uint8Array> {
  if (entry.kind !== 'file') throw new Error(`${entry.path} is not a file`)
  return entry.source.kind === 'bytes' ? entry.source.bytes : readFile(entry.source.path)
}
