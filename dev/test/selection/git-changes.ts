// What differs from a commit: its files, those of the work tree included. Reads git and changes nothing.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const maxOutputBytes = 64 * 1024 * 1024

/** Paths, or why they are not known: then everything counts as changed. */
export type Changes = readonly string[] | { readonly unknown: string }

export type Git = (...args: readonly string[]) => Promise<string>

/** Rejects when git is missing, outside of a repository, and for what it refuses. */
export function gitOf(repository: string): Git {
  return async (...args) => (await promisify(execFile)('git', args, { cwd: repository, maxBuffer: maxOutputBytes })).stdout
}

/** Of renamed files both names. Files that git ignores are left out. Never rejects. */
export async function changesSince(base: string, git: Git): Promise<Changes> {
  try {
    await git('rev-parse', '--verify', '--quiet', `${base}^{commit}`)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return { unknown: 'git is not installed' }
    return { unknown: `git does not know the commit ${base}` }
  }
  try {
    const differing = await git('diff', '--name-only', '--no-renames', '-z', base, '--')
    const untracked = await git('ls-files', '--others', '--exclude-standard', '-z')
    return [...new Set([...differing.split('\0'), ...untracked.split('\0')])].filter(path => path !== '').toSorted()
  } catch {
    return { unknown: 'git did not say which files differ' }
  }
}

/** Where this branch left the one that it follows; undefined when it follows none. */
export async function upstreamBase(git: Git): Promise<string | undefined> {
  return git('merge-base', 'HEAD', '@{upstream}').then(
    commit => commit.trim(),
    () => undefined,
  )
}
