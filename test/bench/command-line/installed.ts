// The command line as users have it: bin/sekisho of a checkout with the bundle that `make command-line` writes, in a folder of
// the bench.
import { copyFile, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { bundleCommandLine } from '../../../dev/command-line/bundle.ts'

/** `folder` must not exist. Resolves to the path of `sekisho`. */
export async function installCommandLine(folder: string, repository: string): Promise<string> {
  const bundle = join(folder, 'dist', 'cli')
  const command = join(folder, 'bin', 'sekisho')
  await mkdir(join(folder, 'bin'), { recursive: true })
  await mkdir(bundle, { recursive: true })
  // The wrapper looks whether a source is newer than the bundle: that belongs to what it costs.
  for (const name of ['src', 'package-lock.json']) await symlink(join(repository, name), join(folder, name))
  await copyFile(join(repository, 'bin', 'sekisho'), command)
  await bundleCommandLine(join(repository, 'src/cli/main.ts'), bundle)
  await writeFile(join(bundle, 'node'), `${process.execPath}\n`)
  return command
}
