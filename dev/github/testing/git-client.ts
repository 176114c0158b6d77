// Runs the real git client as a user or a build would. For tests.
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type GitRun = { readonly ok: boolean; readonly stdout: string; readonly stderr: string }

export type GitClient = {
  readonly folder: string
  /** Runs git in `folder`; a failure is a result, not an exception. */
  run(...args: readonly string[]): Promise<GitRun>
  /** Writes a file and commits it; resolves to the commit id. */
  commit(path: string, text: string, message: string): Promise<string>
  remove(): Promise<void>
}

/** `http://x-access-token:<token>@host/owner/name.git`. */
export function cloneUrl(base: string, fullName: string, token?: string): string {
  const url = new URL(`${base}/${fullName}.git`)
  if (token !== undefined) {
    url.username = 'x-access-token'
    url.password = token
  }
  return url.toString()
}

/** A client in a temporary folder that ignores the configuration of the machine. */
export async function createGitClient(author = { name: 'Dave Developer', email: 'dave@example.test' }): Promise<GitClient> {
  const folder = await mkdtemp(join(tmpdir(), 'git-client-'))
  const env = {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    HOME: folder,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    GIT_AUTHOR_NAME: author.name,
    GIT_AUTHOR_EMAIL: author.email,
    GIT_COMMITTER_NAME: author.name,
    GIT_COMMITTER_EMAIL: author.email,
  }
  const run = (...args: readonly string[]): Promise<GitRun> =>
    new Promise(resolve => {
      execFile('git', [...args], { cwd: folder, env, timeout: 60_000 }, (error, stdout, stderr) =>
        resolve({ ok: error === null, stdout, stderr }),
      )
    })
  return {
    folder,
    run,
    commit: async (path, text, message) => {
      await writeFile(join(folder, path), text)
      await run('add', '--all')
      await run('commit', '--quiet', '-m', message)
      return (await run('rev-parse', 'HEAD')).stdout.trim()
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}
