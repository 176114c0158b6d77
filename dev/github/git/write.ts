// Commits that the emulator itself makes: the first commit of a repository and the merge of a pull request.
// It works on objects, without a work tree, and never moves a ref other than the given one.
import { GitError } from './command.ts'
import type { GitStore } from './store.ts'

export type Author = { readonly name: string; readonly email: string }

function identity(author: Author, seconds: number): Record<string, string> {
  return {
    GIT_AUTHOR_NAME: author.name,
    GIT_AUTHOR_EMAIL: author.email,
    GIT_AUTHOR_DATE: `${seconds} +0000`,
    GIT_COMMITTER_NAME: author.name,
    GIT_COMMITTER_EMAIL: author.email,
    GIT_COMMITTER_DATE: `${seconds} +0000`,
  }
}

export type FileCommit = {
  readonly branch: string
  /** Path → text. */
  readonly files: Readonly<Record<string, string>>
  readonly message: string
  readonly author: Author
  /** Milliseconds since the epoch. */
  readonly at: number
}

/** Makes a commit with exactly the given files, points the branch at it and returns its id. */
export async function commitFiles(git: GitStore, repositoryId: number, commit: FileCommit): Promise<string> {
  const { branch, files } = commit
  const data = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}\n`
  const who = `${commit.author.name} <${commit.author.email}> ${Math.floor(commit.at / 1000)} +0000`
  const changes = Object.entries(files).map(([path, text]) => `M 100644 inline ${path}\n${data(text)}`)
  const stream = `commit refs/heads/${branch}\ncommitter ${who}\n${data(commit.message)}deleteall\n${changes.join('')}`
  const cwd = git.pathOf(repositoryId)
  await git.run(['fast-import', '--quiet'], { cwd, input: stream })
  return (await git.run(['rev-parse', `refs/heads/${branch}`], { cwd })).trim()
}

/** The tree of merging `head` into `base`; `undefined` when they conflict. */
export async function mergedTree(git: GitStore, repositoryId: number, base: string, head: string): Promise<string | undefined> {
  try {
    return (await git.run(['merge-tree', '--write-tree', '--no-messages', base, head], { cwd: git.pathOf(repositoryId) })).trim()
  } catch (error) {
    if (error instanceof GitError && error.exitCode === 1) return undefined
    throw error
  }
}

/** Makes a commit object of a tree, to which no ref points yet. */
export async function commitTree(
  git: GitStore,
  repositoryId: number,
  commit: {
    readonly tree: string
    readonly parents: readonly string[]
    readonly message: string
    readonly author: Author
    readonly at: number
  },
): Promise<string> {
  const parents = commit.parents.flatMap(parent => ['-p', parent])
  const output = await git.run(['commit-tree', commit.tree, ...parents], {
    cwd: git.pathOf(repositoryId),
    input: commit.message,
    environment: identity(commit.author, Math.floor(commit.at / 1000)),
  })
  return output.trim()
}
