// Debian packages as layer entries, without installing them: apt resolves, downloads and verifies signatures, dpkg-deb unpacks
// into the cache. It must never change the packages of this machine.
import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../../../src/lib/errors.ts'
import { isAccessible } from '../../cluster/file-access.ts'
import { maxFetchMilliseconds, type RunCommand } from '../../cluster/run-command.ts'
import { readTree } from '../archive/read-tree.ts'
import type { TreeEntry } from '../archive/tree-entry.ts'
import { dependencyClosure, type PackageFile, parseDependencies, parsePackageFiles } from './dependency-closure.ts'

export type PackageSource = {
  /** The files of `roots` and of all their dependencies; cached until apt's lists change. */
  readonly resolve: (roots: readonly string[], pruned: readonly string[]) => Promise<readonly PackageFile[]>
  readonly entriesOf: (packages: readonly PackageFile[]) => Promise<readonly TreeEntry[]>
  /** The archives of Debian itself from which this machine gets its packages, as lines of sources.list(5). */
  readonly sources: () => Promise<string>
}

export type PackageSourceDeps = {
  readonly run: RunCommand
  readonly cacheFolder: string
  readonly step: (message: string) => void
}

const listsFolder = '/var/lib/apt/lists'
const onlyHardDependencies = ['recommends', 'suggests', 'conflicts', 'breaks', 'replaces', 'enhances'].map(kind => `--no-${kind}`)
/** The keys of Debian's archives: a package of anybody else is never taken. */
const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg'
const neverNeeded =
  /^(\.\/)?usr\/share\/(doc|doc-base|man|info|locale|lintian|bug|bash-completion|gitweb|menu|apport)(\/|$)|^var\/lib\/dpkg(\/|$)/

export function createPackageSource({ run, cacheFolder, step }: PackageSourceDeps): PackageSource {
  const ask = async (roots: readonly string[], pruned: readonly string[]): Promise<readonly PackageFile[]> => {
    const graph = parseDependencies(await run('apt-cache', ['depends', '--recurse', ...onlyHardDependencies, ...roots]))
    // Virtual names have no file; the package that provides them is in the graph as well.
    const names = dependencyClosure(graph, roots, new Set(pruned)).filter(name => graph.has(name))
    const files = parsePackageFiles(await run('apt-get', ['download', '--print-uris', ...names]))
    const missing = roots.filter(root => !files.some(file => file.name === root))
    if (missing.length > 0)
      throw new AppError('unavailable', `apt does not know ${missing.join(', ')}: run apt-get update and try again`)
    return files
  }

  const treeOf = (file: PackageFile): string => join(cacheFolder, file.sha256)

  /** One call of apt for all missing packages: starting apt costs more than downloading most of them. */
  const unpackMissing = async (files: readonly PackageFile[]): Promise<void> => {
    const present = await Promise.all(files.map(file => isAccessible(treeOf(file))))
    const missing = files.filter((_, index) => !present[index])
    if (missing.length === 0) return
    const unfinished = join(cacheFolder, `unfinished-${randomUUID()}`)
    await mkdir(unfinished, { recursive: true })
    try {
      step(`${missing.length} Debian packages: ${missing.map(file => file.name).join(' ')}`)
      const wanted = missing.map(file => `${file.name}=${decodeURIComponent(file.fileName.split('_')[1] ?? '')}`)
      await run('apt-get', ['download', '-q', ...wanted], { folder: unfinished, timeoutMilliseconds: maxFetchMilliseconds })
      for (const file of missing) {
        const archive = join(unfinished, file.fileName)
        const sha256 = createHash('sha256')
          .update(await readFile(archive))
          .digest('hex')
        if (sha256 !== file.sha256)
          throw new AppError('integrity_violation', `${file.fileName} does not match apt's list: run apt-get update`)
        await run('dpkg-deb', ['-x', archive, join(unfinished, file.sha256)])
        await rename(join(unfinished, file.sha256), treeOf(file))
      }
    } finally {
      await rm(unfinished, { recursive: true, force: true })
    }
  }

  return {
    async resolve(roots, pruned) {
      const lists = await stat(listsFolder).catch(() => undefined)
      if (!lists) throw new AppError('unavailable', 'base images are built from Debian packages: install apt on this machine')
      const key = createHash('sha256')
        .update(JSON.stringify([roots, pruned, lists.mtimeMs]))
        .digest('hex')
      const answer = join(cacheFolder, `resolved-${key}.json`)
      // This file is written below by rename, so it is complete when it exists.
      if (await isAccessible(answer)) return JSON.parse(await readFile(answer, 'utf8')) as readonly PackageFile[]
      const resolveAndFetch = async (): Promise<readonly PackageFile[]> => {
        const found = await ask(roots, pruned)
        await unpackMissing(found)
        return found
      }
      // Old lists name versions that the mirrors no longer have. The second attempt uses new lists; its error is the one to
      // report.
      const files = await resolveAndFetch().catch(async () => {
        step('apt-get update (the package lists are missing or outdated)')
        await run('apt-get', ['update', '-q'], { timeoutMilliseconds: maxFetchMilliseconds })
        return resolveAndFetch()
      })
      await mkdir(cacheFolder, { recursive: true })
      await writeFile(`${answer}.${process.pid}`, JSON.stringify(files))
      await rename(`${answer}.${process.pid}`, answer)
      return files
    },
    async entriesOf(packages) {
      await unpackMissing(packages)
      const entries: TreeEntry[] = []
      for (const file of packages)
        entries.push(...(await readTree(treeOf(file), { into: '', keep: path => !neverNeeded.test(path) })))
      return entries
    },
    async sources() {
      const targets = await run('apt-get', [
        'indextargets',
        '--format',
        '$(ORIGIN) $(REPO_URI) $(RELEASE) $(COMPONENT)',
        'Created-By: Packages',
      ])
      const lines = targets.split('\n').flatMap(line => {
        const [, address, release, component] = /^Debian (https?:\/\/\S+) ([\w-]+) (\w+)$/.exec(line.trim()) ?? []
        return address === undefined ? [] : [`deb [signed-by=${keyring}] ${address} ${release} ${component}`]
      })
      if (lines.length === 0) throw new AppError('unavailable', 'apt has no archive of Debian: correct /etc/apt/sources.list.d')
      return `${[...new Set(lines)].join('\n')}\n`
    },
  }
}
