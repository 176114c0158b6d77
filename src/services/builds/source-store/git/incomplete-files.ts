// Finds what a checkout of a commit lacks: submodules, which are other repositories, and files in Git LFS, of which the
// repository holds pointers only. A build would go on with an empty folder and with texts of 130 bytes instead of files.
// Sources: https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md , https://git-scm.com/docs/gitattributes ,
// https://git-scm.com/docs/gitmodules
import { runGit } from './git-command.ts'
import { notInRepository, packRefusal } from './refusals.ts'

/** One line of `git ls-tree`. */
export type TreeEntry = { readonly type: string; readonly size: number; readonly object: string; readonly path: string }

export type IncompleteFiles = {
  /** Is given every entry of the commit. */
  readonly see: (entry: TreeEntry) => void
  /** Rejects with a refusal that names the first of them. */
  readonly check: () => Promise<void>
}

type Repository = { readonly folder: string; readonly subPath: string; readonly signal: AbortSignal }

const timeoutMilliseconds = 30_000
/** A pointer has fewer than 1024 bytes, and at least its version, hash and size. */
const pointerBytes = { least: 100, most: 1023 } as const
const pointer = /^version https:\/\/(git-lfs|hawser)\.github\.com\/spec\/v1\n([^\n]*\n){0,20}oid sha256:[0-9a-f]{64}\n/
const lfsAttribute = /(^|\s)filter\s*=\s*lfs(\s|$)/
/** What is examined of one commit. A commit with more small files is built without the question whether the rest are pointers. */
const bounds = { attributes: 200, attributesBytes: 65_536, files: 20_000, pathBytes: 4_194_304 } as const

type GitObject = { readonly object: string; readonly content: string; readonly end: number }

/** The object that begins at `at`; undefined while a part of it has not come. One that git does not have is empty. */
function objectAt(bytes: Buffer, at: number): GitObject | undefined {
  const line = bytes.indexOf(0x0a, at)
  if (line < 0) return undefined
  const [object = '', , size] = bytes.toString('utf8', at, line).split(' ')
  if (size === undefined) return { object, content: '', end: line + 1 }
  const end = line + 1 + Number(size)
  return end < bytes.length ? { object, content: bytes.toString('utf8', line + 1, end), end: end + 1 } : undefined
}

/** Splits the output of `git cat-file --batch`: a line with object, type and size, then the content and a line feed. */
function createBatchReader(onObject: (object: string, content: string) => void): (piece: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0)
  return piece => {
    const bytes = Buffer.concat([rest, piece])
    let at = 0
    for (let found = objectAt(bytes, at); found !== undefined; found = objectAt(bytes, at)) {
      onObject(found.object, found.content)
      at = found.end
    }
    rest = Buffer.from(bytes.subarray(at))
  }
}

async function readObjects(
  { folder, signal }: Repository,
  objects: Iterable<string>,
  onContent: (object: string, content: string) => void,
): Promise<void> {
  async function* names(): AsyncGenerator<Buffer> {
    for (const object of objects) yield Buffer.from(`${object}\n`)
  }
  const result = await runGit({
    folder,
    arguments: ['cat-file', '--batch', '--buffer'],
    input: names(),
    timeoutMilliseconds,
    signal,
    onOutput: createBatchReader(onContent),
  })
  if (result.code !== 0) throw packRefusal(result, 0)
}

/** Whether the path is in the folder that is built; `subPath` may be written with `./` and a `/` at its end. */
function isBelow(subPath: string): (path: string) => boolean {
  const parts = subPath.split('/').filter(part => part !== '' && part !== '.')
  const prefix = parts.length === 0 ? '' : `${parts.join('/')}/`
  return path => path.startsWith(prefix)
}

/** For one commit. */
export function createIncompleteFiles(repository: Repository): IncompleteFiles {
  const isBuilt = isBelow(repository.subPath)
  const submodules: string[] = []
  const attributes = new Set<string>()
  /** Object → the first path that has it. */
  const small = new Map<string, string>()
  let hasModules = false
  let pathBytes = 0

  function seeBlob({ size, object, path }: TreeEntry): void {
    if (path === '.gitmodules') hasModules = true
    if (/(^|\/)\.gitattributes$/.test(path)) {
      if (size <= bounds.attributesBytes && attributes.size < bounds.attributes) attributes.add(object)
      return
    }
    if (size < pointerBytes.least || size > pointerBytes.most || small.has(object) || !isBuilt(path)) return
    pathBytes += path.length
    if (small.size < bounds.files && pathBytes <= bounds.pathBytes) small.set(object, path)
  }

  async function usesLfs(): Promise<boolean> {
    if (attributes.size === 0 || small.size === 0) return false
    let found = false
    await readObjects(repository, attributes, (_object, content) => {
      found ||= lfsAttribute.test(content)
    })
    return found
  }

  return {
    see(entry) {
      if (entry.type === 'blob') seeBlob(entry)
      if (entry.type === 'commit' && submodules.length < 1000 && isBuilt(entry.path)) submodules.push(entry.path)
    },
    async check() {
      // A folder of another repository that no .gitmodules names is a mistake of `git add`: no clone of it has files there.
      if (hasModules && submodules.length > 0) throw notInRepository('submodule', submodules)
      if (!(await usesLfs())) return
      const pointers: string[] = []
      await readObjects(repository, small.keys(), (object, content) => {
        if (pointer.test(content)) pointers.push(small.get(object) ?? '')
      })
      if (pointers.length > 0) throw notInRepository('lfs', pointers)
    },
  }
}
