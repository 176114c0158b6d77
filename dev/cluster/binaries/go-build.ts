// Builds an entry's programs from its Go module into a folder that appears complete or not at all.
// It must never change the module: a go.mod or go.sum that needs an edit is an error.
import { copyFile, mkdir, rename, rm, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AppError } from '../../../src/lib/errors.ts'
import { runCommand, tryCommand } from '../run-command.ts'
import type { CatalogEntry, StubbedFile } from './catalog.ts'

const maxBuildMilliseconds = 60 * 60_000

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
  const replaced = join(incoming, 'replaced')
  const changes = changesOf(entry)
  const modfile = changes.length === 0 ? [] : [`-modfile=${await replaceModules(changes, moduleFolder, replaced)}`]
  for (const [file, packagePath] of Object.entries(entry.builds)) {
    const tags = entry.tags.length > 0 ? ['-tags', entry.tags.join(',')] : []
    const flags = [...modfile, '-trimpath', ...tags, '-ldflags', entry.ldflags.join(' ')]
    await go(['build', ...flags, '-o', join(incoming, file), packagePath], moduleFolder)
  }
  await rm(replaced, { recursive: true, force: true })
  for (const [link, file] of Object.entries(entry.links)) await symlink(file, join(incoming, link))
  await rm(folder, { recursive: true, force: true })
  await rename(incoming, folder)
}

function go(args: readonly string[], moduleFolder: string): Promise<string> {
  return runCommand('go', args, {
    folder: moduleFolder,
    environment: { CGO_ENABLED: '0', GOWORK: 'off' },
    timeoutMilliseconds: maxBuildMilliseconds,
  })
}

/** A module that is built otherwise than its publisher has it. */
type Change = {
  readonly module: string
  /** In a copy of the module. Rejects when the module is not as it was. */
  readonly apply: (moduleFolder: string, copy: string) => Promise<void>
}

function changesOf({ stubs = [], patches = [] }: CatalogEntry): readonly Change[] {
  return [
    ...stubs.map(({ module, ...stub }) => ({ module, apply: (from: string, copy: string) => placeStub(stub, from, copy) })),
    ...patches.map(({ module, patch }) => ({
      module,
      apply: (from: string, copy: string) => applyPatch(join(from, patch), copy),
    })),
  ]
}

async function placeStub({ file, stub, without = [] }: Omit<StubbedFile, 'module'>, moduleFolder: string, copy: string) {
  await copyFile(join(moduleFolder, stub), join(copy, file))
  for (const unused of without) await rm(join(copy, unused))
}

/** Inside of a repository git would leave out, without a word, what is not below its root: it looks for none here. */
async function applyPatch(patch: string, copy: string): Promise<void> {
  const environment = { GIT_CEILING_DIRECTORIES: dirname(copy) }
  await runCommand('git', ['apply', '--whitespace=nowarn', patch], { folder: copy, environment })
}

/**
 * Copies each module below `folder` and changes the copy, because Go's overlays do not reach into its module cache. Resolves to
 * the path of a go.mod that replaces the modules by these copies.
 * Source: https://go.dev/ref/mod#go-mod-file-replace, https://pkg.go.dev/cmd/go (-modfile)
 */
async function replaceModules(changes: readonly Change[], moduleFolder: string, folder: string): Promise<string> {
  await mkdir(folder, { recursive: true })
  const [modfile, sumfile] = [join(folder, 'go.mod'), join(folder, 'go.sum')]
  await copyFile(join(moduleFolder, 'go.mod'), modfile)
  await copyFile(join(moduleFolder, 'go.sum'), sumfile)
  await go(['mod', 'download', ...changes.map(({ module }) => module)], moduleFolder)
  for (const [index, { module, apply }] of changes.entries()) {
    const original = (await go(['list', '-m', '-f', '{{.Dir}}', module], moduleFolder)).trim()
    const copy = join(folder, String(index))
    // Go's module cache is read-only.
    await runCommand('cp', ['-r', '--no-preserve=mode', original, copy])
    await apply(moduleFolder, copy)
    await runCommand('go', ['mod', 'edit', `-replace=${module}=${copy}`, modfile])
  }
  return modfile
}
