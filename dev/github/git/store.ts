// The bare repositories on disk, one folder per repository id, so that renaming a repository moves nothing.
// It never decides about access.
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createGitCommand, type GitCommand, GitError } from './command.ts'
import { type Commit, parseCommits, prettyFormat } from './commit.ts'
import { isSafeRevision, refCandidates } from './revision.ts'

export type GitStore = {
  readonly run: GitCommand
  readonly folder: string
  readonly environment: Readonly<Record<string, string>>
  pathOf(repositoryId: number): string
  /** Makes an empty repository and deletes an earlier folder with this id. */
  create(repositoryId: number, defaultBranch: string): Promise<void>
  /** The output of a command that answers "no" with exit code 1; `undefined` for that answer. */
  ask(repositoryId: number, args: readonly string[]): Promise<string | undefined>
  /** Deletes the repository from the disk. */
  remove(repositoryId: number): Promise<void>
  /** Copies refs (full names, `*` at the end allowed) of one repository into another under the same names. */
  copy(from: number, to: number, refs: readonly string[]): Promise<void>
  /** Copies the objects of a commit of one repository into another; no ref moves. */
  borrow(from: number, to: number, ref: string): Promise<void>
  /** Sets the branch that a clone checks out. */
  setHead(repositoryId: number, branch: string): Promise<void>
  /** Ref name → commit id, below `prefix` (`refs/heads/`). */
  refs(repositoryId: number, prefix: string): Promise<ReadonlyMap<string, string>>
  /** The commit that a branch, tag or commit id names; `undefined` when there is none. */
  resolve(repositoryId: number, revision: string): Promise<string | undefined>
  commit(repositoryId: number, sha: string): Promise<Commit>
  /** Commits reachable from `to` but not from `from` (undefined: all), newest first, at most `limit`. */
  commits(repositoryId: number, from: string | undefined, to: string, limit: number): Promise<readonly Commit[]>
  /** Commits by arguments of `git log` that the caller has validated. */
  log(repositoryId: number, range: readonly string[]): Promise<readonly Commit[]>
  /** Points a ref at a commit, or deletes it; `expected` detects a concurrent push. */
  updateRef(repositoryId: number, ref: string, sha: string | undefined, expected?: string): Promise<void>
}

function configuration(folder: string): string {
  return `[core]
  hooksPath = ${join(folder, 'hooks')}
[safe]
  directory = *
[http]
  receivepack = true
[uploadpack]
  allowAnySHA1InWant = true
  allowFilter = true
[receive]
  hideRefs = refs/pull
  autogc = false
[gc]
  auto = 0
`
}

/** The hook writes the exact ref updates of a push to the report file, if there is one. */
const postReceive = '#!/bin/sh\nif [ -n "$PUSH_REPORT" ]; then cat > "$PUSH_REPORT"; else cat > /dev/null; fi\n'

/** Prepares `folder` and returns its store. `searchPath` is the PATH on which git and sh are found. */
export async function createGitStore(folder: string, searchPath: string): Promise<GitStore> {
  await mkdir(join(folder, 'hooks'), { recursive: true })
  await writeFile(join(folder, 'gitconfig'), configuration(folder))
  await writeFile(join(folder, 'hooks', 'post-receive'), postReceive)
  await chmod(join(folder, 'hooks', 'post-receive'), 0o755)
  const environment = {
    PATH: searchPath,
    LANG: 'C.UTF-8',
    HOME: folder,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: join(folder, 'gitconfig'),
    GIT_TERMINAL_PROMPT: '0',
  }
  const run = createGitCommand(environment)
  const pathOf = (repositoryId: number): string => join(folder, `${repositoryId}.git`)
  const log = async (repositoryId: number, range: readonly string[]): Promise<readonly Commit[]> =>
    parseCommits(await run(['log', '-z', `--format=${prettyFormat}`, ...range], { cwd: pathOf(repositoryId) }))

  const ask = async (repositoryId: number, args: readonly string[]): Promise<string | undefined> => {
    try {
      return await run(args, { cwd: pathOf(repositoryId) })
    } catch (error) {
      if (error instanceof GitError && error.exitCode === 1) return undefined
      throw error
    }
  }

  const revParse = async (repositoryId: number, revision: string): Promise<string | undefined> => {
    try {
      const found = await run(['rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`], {
        cwd: pathOf(repositoryId),
      })
      return found.trim()
    } catch (error) {
      if (error instanceof GitError && error.exitCode !== null) return undefined
      throw error
    }
  }

  const refs = async (repositoryId: number, prefix: string): Promise<ReadonlyMap<string, string>> => {
    const text = await run(['for-each-ref', '--format=%(refname)%00%(objectname)', prefix], { cwd: pathOf(repositoryId) })
    const lines = text.split('\n').filter(line => line !== '')
    return new Map(lines.map(line => [line.slice(0, line.indexOf('\0')), line.slice(line.indexOf('\0') + 1)]))
  }

  const updateRef = async (repositoryId: number, ref: string, sha: string | undefined, expected?: string): Promise<void> => {
    const args = sha === undefined ? ['update-ref', '-d', ref] : ['update-ref', ref, sha]
    await run(expected === undefined ? args : [...args, expected], { cwd: pathOf(repositoryId) })
  }

  return {
    run,
    folder,
    environment,
    pathOf,
    ask,
    create: async (repositoryId, defaultBranch) => {
      // A folder left by an earlier run that ended before its state was written.
      await rm(pathOf(repositoryId), { recursive: true, force: true })
      // Without the example hooks, which are most of what an empty repository is.
      await run(['init', '--quiet', '--bare', '--template=', `--initial-branch=${defaultBranch}`, pathOf(repositoryId)])
    },
    remove: repositoryId => rm(pathOf(repositoryId), { recursive: true, force: true }),
    copy: async (from, to, refs) => {
      const wanted = refs.map(ref => `+${ref}:${ref}`)
      await run(['fetch', '--quiet', '--no-write-fetch-head', '--end-of-options', pathOf(from), ...wanted], { cwd: pathOf(to) })
    },
    borrow: async (from, to, ref) => {
      await run(['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--end-of-options', pathOf(from), ref], {
        cwd: pathOf(to),
      })
    },
    setHead: async (repositoryId, branch) => {
      await run(['symbolic-ref', 'HEAD', `refs/heads/${branch}`], { cwd: pathOf(repositoryId) })
    },
    refs,
    resolve: async (repositoryId, revision) => {
      if (!isSafeRevision(revision)) return undefined
      for (const candidate of refCandidates(revision)) {
        const sha = await revParse(repositoryId, candidate)
        if (sha !== undefined) return sha
      }
      return undefined
    },
    log,
    commit: async (repositoryId, sha) => {
      const [commit] = await log(repositoryId, ['-1', '--end-of-options', sha])
      if (!commit) throw new Error(`commit ${sha} of repository ${repositoryId} does not exist`)
      return commit
    },
    commits: (repositoryId, from, to, limit) =>
      log(repositoryId, [`--max-count=${limit}`, '--end-of-options', ...(from === undefined ? [to] : [`${from}..${to}`])]),
    updateRef,
  }
}
