// Owns: reading trees, blobs and tags, and changing one file on a branch by objects alone. Never decides who may.
import { spawn } from 'node:child_process'
import type { Signature } from './commit.ts'
import { type GitStore, unmoved } from './store.ts'
import { type Author, commitTree } from './write.ts'

export type TreeEntry = {
  readonly mode: string
  readonly type: 'blob' | 'tree' | 'commit'
  readonly sha: string
  readonly size: number | undefined
  readonly path: string
}

/** Largest blob that REST hands out. https://docs.github.com/en/rest/git/blobs */
const largestBlob = 100 * 1024 * 1024

const typeOf = (word: string): TreeEntry['type'] => (word === 'tree' || word === 'commit' ? word : 'blob')

/** `git ls-tree -l -z`: mode, type, id, size, TAB, path. */
const parseTree = (text: string): readonly TreeEntry[] =>
  text
    .split('\0')
    .filter(line => line !== '')
    .map(line => {
      const tab = line.indexOf('\t')
      const [mode = '', type = '', sha = '', size = '-'] = line.slice(0, tab).split(/ +/)
      return { mode, type: typeOf(type), sha, size: size === '-' ? undefined : Number(size), path: line.slice(tab + 1) }
    })

/** The entries of a tree or of a commit's tree; below `path` when it names a folder. */
export const readTree = async (
  git: GitStore,
  repositoryId: number,
  treeish: string,
  options: { readonly recursive?: boolean; readonly path?: string } = {},
): Promise<readonly TreeEntry[]> => {
  const flags = options.recursive ? ['-r', '-t'] : []
  const at = options.path === undefined || options.path === '' ? treeish : `${treeish}:${options.path}`
  return parseTree(await git.run(['ls-tree', '-l', '-z', ...flags, '--end-of-options', at], { cwd: git.pathOf(repositoryId) }))
}

/** What lies at a path of a commit; `undefined` when nothing does. */
export const entryAt = async (
  git: GitStore,
  repositoryId: number,
  commit: string,
  path: string,
): Promise<TreeEntry | undefined> => {
  const text = await git.run(['ls-tree', '-l', '-z', '--end-of-options', commit, path], {
    cwd: git.pathOf(repositoryId),
    environment: { GIT_LITERAL_PATHSPECS: '1' },
  })
  return parseTree(text).find(one => one.path === path)
}

/** The kind of an object, or `undefined` when there is none of this id. */
export const objectType = async (git: GitStore, repositoryId: number, sha: string): Promise<string | undefined> => {
  if (!/^[0-9a-f]{40}$/.test(sha)) return undefined
  const answer = await git.run(['cat-file', '--batch-check=%(objecttype)'], { cwd: git.pathOf(repositoryId), input: `${sha}\n` })
  const word = answer.trim()
  return word.endsWith('missing') ? undefined : word
}

/** The bytes of a blob. */
export const readBlob = (git: GitStore, repositoryId: number, sha: string): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const child = spawn('git', ['cat-file', 'blob', sha], { cwd: git.pathOf(repositoryId), env: { ...git.environment } })
    const chunks: Buffer[] = []
    let size = 0
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > largestBlob) child.kill('SIGKILL')
      else chunks.push(chunk)
    })
    child.stderr.resume()
    child.on('error', reject)
    child.on('close', code =>
      code === 0
        ? resolve(Buffer.concat(chunks))
        : reject(new Error(`blob ${sha} of repository ${repositoryId} could not be read`)),
    )
  })

export type Tag = {
  readonly name: string
  readonly sha: string
  readonly type: string
  readonly tagger: Signature
  readonly message: string
}

/** An annotated tag by its own id. */
export const readTag = async (git: GitStore, repositoryId: number, sha: string): Promise<Tag> => {
  const text = await git.run(['cat-file', 'tag', sha], { cwd: git.pathOf(repositoryId) })
  const blank = text.indexOf('\n\n')
  const head = new Map(
    text
      .slice(0, blank)
      .split('\n')
      .map(line => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]),
  )
  const [, name = '', email = '', seconds = '0'] = /^(.*) <(.*)> (\d+) /.exec(head.get('tagger') ?? '') ?? []
  const date = `${new Date(Number(seconds) * 1000).toISOString().slice(0, 19)}Z`
  return {
    name: head.get('tag') ?? '',
    sha: head.get('object') ?? '',
    type: head.get('type') ?? '',
    tagger: { name, email, date },
    message: text.slice(blank + 2).trimEnd(),
  }
}

export type FileEdit = {
  readonly path: string
  /** New content; `undefined` removes the file. */
  readonly content: Buffer | undefined
  readonly message: string
  readonly author: Author
  readonly at: number
}

/** Writes a blob and answers its id. */
const writeBlob = async (git: GitStore, repositoryId: number, content: Buffer): Promise<string> => {
  const input = content
  const output = await git.run(['hash-object', '-w', '--stdin'], { cwd: git.pathOf(repositoryId), input })
  return output.trim()
}

/** The tree of `parent` with one file put or taken; by an index of its own, so that nothing else is touched. */
const editedTree = async (git: GitStore, repositoryId: number, parent: string | undefined, edit: FileEdit): Promise<string> => {
  const cwd = git.pathOf(repositoryId)
  const blob = edit.content === undefined ? undefined : await writeBlob(git, repositoryId, edit.content)
  return git.withIndex(repositoryId, async environment => {
    if (parent !== undefined) await git.run(['read-tree', parent], { cwd, environment })
    const line = blob === undefined ? `0 ${'0'.repeat(40)}\t${edit.path}` : `100644 ${blob}\t${edit.path}`
    await git.run(['update-index', '-z', '--index-info'], { cwd, environment, input: `${line}\0` })
    return (await git.run(['write-tree'], { cwd, environment })).trim()
  })
}

/** Commits one changed file on a branch (made when the repository is empty); answers the commits before and after. */
export const editFile = async (
  git: GitStore,
  repositoryId: number,
  branch: string,
  edit: FileEdit,
): Promise<{ readonly before: string | undefined; readonly after: string } | typeof unmoved> => {
  const ref = `refs/heads/${branch}`
  const before = await git.resolve(repositoryId, ref)
  const tree = await editedTree(git, repositoryId, before, edit)
  const parents = before === undefined ? [] : [before]
  const after = await commitTree(git, repositoryId, {
    tree,
    parents,
    message: `${edit.message}\n`,
    author: edit.author,
    at: edit.at,
  })
  const moved = await git.moveRef(repositoryId, ref, after, before ?? '0'.repeat(40))
  return moved === unmoved ? unmoved : { before, after }
}
