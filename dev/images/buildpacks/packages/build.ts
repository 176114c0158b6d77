// The build phase in order: read the Aptfile, ask apt what is needed, fetch it, and unpack it into two layers: all of it for the
// build, and what the app needs when it runs for its image.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openAppFiles } from '../shared/app-files.ts'
import { BuildFailure } from '../shared/build-failure.ts'
import type { BuildContext } from '../shared/config.ts'
import { type FetchedFile, openApt } from './apt.ts'
import { parseAptfile } from './aptfile.ts'
import { type PackageFields, runSet } from './run-set.ts'
import { unpack } from './unpack.ts'

/** Of downloads; unpacked it is three to five times as much, which goes to every node that runs the app. */
const maxBytes = 300_000_000
const installed = '/usr/share/sekisho/installed-packages'

const triplets: Readonly<Record<string, string>> = { x64: 'x86_64-linux-gnu', arm64: 'aarch64-linux-gnu' }
const triplet = triplets[process.arch] ?? process.arch
const libraryFolders = [`usr/lib/${triplet}`, 'usr/lib', `lib/${triplet}`, 'lib']
const programFolders = ['usr/bin', 'usr/sbin', 'bin', 'sbin', 'usr/games']

type Variables = Readonly<Record<string, readonly string[]>>
const atRun: Variables = { PATH: programFolders, LD_LIBRARY_PATH: libraryFolders }
const atBuild: Variables = {
  ...atRun,
  LIBRARY_PATH: libraryFolders,
  CPATH: ['usr/include', `usr/include/${triplet}`],
  PKG_CONFIG_PATH: [`usr/lib/${triplet}/pkgconfig`, 'usr/lib/pkgconfig', 'usr/share/pkgconfig'],
}

/** @throws BuildFailure whose message is for the app's owner */
export function installSystemPackages(context: BuildContext): void {
  const { appFolder, layersFolder, environment, say } = context
  const names = parseAptfile(openAppFiles(appFolder).read('Aptfile') ?? '')
  if (names.length === 0) {
    say('Aptfile lists no package')
    return
  }
  const scratch = join(layersFolder, 'apt')
  const archives = join(scratch, 'archives')
  const apt = openApt({ lists: join(scratch, 'lists'), archives, scratch, installed }, environment)
  apt.update()
  const files = withoutInstalled(apt.plan(names), readFileSync(installed, 'utf8'))
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  say(`${names.join(' ')}: ${files.length} packages, ${(bytes / 1e6).toFixed(1)} MB`)
  if (bytes > maxBytes)
    throw new BuildFailure(
      `the packages of Aptfile are larger than ${maxBytes / 1e6} MB: leave some out, or build with a Dockerfile`,
    )
  const key = createHash('sha256')
    .update(JSON.stringify(['1', names, files]))
    .digest('hex')
  if (['system-build', 'system'].every(layer => isOf(layersFolder, layer, key))) say('used again from the build before')
  else {
    apt.fetch(names)
    unpackAll(context, { names, key, paths: files.map(({ file }: FetchedFile) => join(archives, file)) })
  }
  rmSync(scratch, { recursive: true, force: true })
  describe(layersFolder, 'system-build', `build = true\ncache = true\n[metadata]\nkey = "${key}"\n`)
  describe(layersFolder, 'system', `launch = true\ncache = true\n[metadata]\nkey = "${key}"\n`)
}

/**
 * apt fetches a package again whose record here says less than the archive's, also in the same version. `status`: in the form of
 * /var/lib/dpkg/status. Pure.
 */
export function withoutInstalled(files: readonly FetchedFile[], status: string): readonly FetchedFile[] {
  const present = new Set(
    [...status.matchAll(/^Package: (.+)\n(?:.+\n)*?Version: (.+)$/gm)].map(([, name, version]) => `${name}_${version}`),
  )
  return files.filter(({ file }) => !present.has(file.split('_').slice(0, 2).map(decodeURIComponent).join('_')))
}

function isOf(layersFolder: string, layer: string, key: string): boolean {
  const description = join(layersFolder, `${layer}.toml`)
  return (
    existsSync(join(layersFolder, layer)) && existsSync(description) && readFileSync(description, 'utf8').includes(`"${key}"`)
  )
}

function describe(layersFolder: string, layer: string, types: string): void {
  writeFileSync(join(layersFolder, `${layer}.toml`), `[types]\n${types}`)
}

type Fetched = { readonly names: readonly string[]; readonly key: string; readonly paths: readonly string[] }

function unpackAll({ layersFolder, environment, say }: BuildContext, { names, paths }: Fetched): void {
  const fields = paths.map(path => ({ path, ...fieldsOf(path, environment['PATH']) }))
  const needed = runSet(fields, names)
  say(`in the image of the app: ${[...needed].sort().join(' ') || 'none of them'}`)
  const layers = [
    { name: 'system-build', phase: 'env.build', variables: atBuild, archives: paths },
    {
      name: 'system',
      phase: 'env.launch',
      variables: atRun,
      archives: fields.filter(({ name }) => needed.has(name)).map(({ path }) => path),
    },
  ]
  for (const { name, phase, variables, archives } of layers) {
    const folder = join(layersFolder, name)
    rmSync(folder, { recursive: true, force: true })
    unpack(archives, folder, environment)
    writeVariables(join(folder, phase), folder, variables)
  }
}

/** In front of what the image has, with a colon. */
function writeVariables(into: string, folder: string, variables: Variables): void {
  mkdirSync(into, { recursive: true })
  for (const [name, paths] of Object.entries(variables)) {
    writeFileSync(join(into, `${name}.prepend`), paths.map(path => join(folder, path)).join(':'))
    writeFileSync(join(into, `${name}.delim`), ':')
  }
}

function fieldsOf(archive: string, path: string | undefined): PackageFields {
  const text = execFileSync('dpkg-deb', ['-f', archive, 'Package', 'Section', 'Depends', 'Pre-Depends', 'Provides'], {
    encoding: 'utf8',
    env: { PATH: path, LC_ALL: 'C' },
  })
  const field = (name: string): string => new RegExp(`^${name}: (.*)$`, 'm').exec(text)?.[1] ?? ''
  return {
    name: field('Package'),
    section: field('Section'),
    depends: `${field('Depends')}, ${field('Pre-Depends')}`,
    provides: field('Provides'),
  }
}
