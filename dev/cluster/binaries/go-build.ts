// Builds an entry's programs from its Go module into a folder that appears complete or not at all.
// It must never change the module: a go.mod or go.sum that needs an edit is an error.
import { mkdir, rename, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../../../src/lib/errors.ts'
import { runCommand, tryCommand } from '../run-command.ts'
import type { CatalogEntry } from './catalog.ts'

const longestBuildMilliseconds = 60 * 60_000

export async function goAvailable(): Promise<boolean> {
  return tryCommand('go', ['version']).then(
    result => result.code === 0,
    () => false,
  )
}

/** Builds statically (no C compiler needed) and links the names of a combined binary. */
export async function buildPrograms(entry: CatalogEntry, moduleFolder: string, folder: string): Promise<void> {
  if (!(await goAvailable())) {
    throw new AppError(
      'invalid_configuration',
      `${entry.name} must be built from source, but go is not on PATH; install Go 1.25 or later: https://go.dev/doc/install`,
    )
  }
  const incoming = `${folder}.build`
  await rm(incoming, { recursive: true, force: true })
  await mkdir(incoming, { recursive: true })
  for (const [file, packagePath] of Object.entries(entry.builds)) {
    const tags = entry.tags.length > 0 ? ['-tags', entry.tags.join(',')] : []
    await runCommand(
      'go',
      ['build', '-trimpath', ...tags, '-ldflags', entry.ldflags.join(' '), '-o', join(incoming, file), packagePath],
      {
        folder: moduleFolder,
        environment: { CGO_ENABLED: '0', GOWORK: 'off' },
        timeoutMilliseconds: longestBuildMilliseconds,
      },
    )
  }
  for (const [link, file] of Object.entries(entry.links)) await symlink(file, join(incoming, link))
  await rm(folder, { recursive: true, force: true })
  await rename(incoming, folder)
}
