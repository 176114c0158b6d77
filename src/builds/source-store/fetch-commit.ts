// Fetches exactly one commit of one repository into an empty bare repository, and proves that it is that commit.
// The token is in the environment of the git child only: never in arguments, URLs or files. One host, one protocol, no redirects,
// no tags, no submodules, no LFS. It never writes outside `folder`.
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { remoteSyncReasons } from '../../api/apps/remote-sync.ts'
import { AppError, messageOf } from '../../lib/errors.ts'
import type { SecretString } from '../../lib/secret-string.ts'
import { type GitConfiguration, type GitEnvironment, lastErrorLine, runGit } from './git-command.ts'

export type FetchRequest = {
  /** The repository, such as https://github.com/acme/shop.git. */
  readonly repositoryUrl: string
  /** The web address of the GitHub host as a platform admin configured it: the only origin (and protocol) that is asked. */
  readonly web: string
  readonly commit: string
  readonly token: SecretString
}

export type FetchLimits = {
  readonly timeoutMilliseconds: number
  /** What may be transferred. */
  readonly packedBytes: number
  /** What the files may be when they are checked out: a small pack can hold a huge tree. */
  readonly unpackedBytes: number
}

const localTimeoutMilliseconds = 30_000
const watchMilliseconds = 100

/** The name under which the commit is served; a clone of the source gets it as its branch. */
export const sourceBranch = 'refs/heads/source'

function refused(reason: string, message: string): AppError {
  return new AppError('upstream_failed', message, { reason })
}

/** https always; http only where the configured host itself is http (an emulator, an inner network). */
export function checkRepositoryUrl(repositoryUrl: string, web: string): URL {
  const url = new URL(repositoryUrl)
  const allowed = new URL(web)
  if (url.origin !== allowed.origin) throw refused(remoteSyncReasons.fetchFailed, `the repository is not on ${allowed.origin}`)
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw refused(remoteSyncReasons.fetchFailed, 'only https repositories are fetched')
  if (url.username !== '' || url.password !== '')
    throw refused(remoteSyncReasons.fetchFailed, 'a repository URL must hold no credential')
  return url
}

/** Basic with `x-access-token`: what GitHub documents for installation tokens over HTTP. */
export function fetchConfiguration(url: URL, token: SecretString): GitConfiguration {
  const credential = Buffer.from(`x-access-token:${token.reveal()}`).toString('base64')
  return [
    ['protocol.allow', 'never'],
    [`protocol.${url.protocol.slice(0, -1)}.allow`, 'always'],
    ['http.followRedirects', 'false'],
    [`http.${url.origin}/.extraHeader`, `Authorization: Basic ${credential}`],
    ['http.lowSpeedLimit', '1000'],
    ['http.lowSpeedTime', '20'],
    ['http.userAgent', 'sekisho/source-store'],
    ['credential.helper', ''],
    ['core.hooksPath', '/dev/null'],
    ['fetch.unpackLimit', '1'],
    ['gc.auto', '0'],
    ['maintenance.auto', 'false'],
    ['submodule.recurse', 'false'],
  ]
}

async function packedBytes(folder: string): Promise<number> {
  let total = 0
  for (const name of await readdir(join(folder, 'objects', 'pack')))
    total += (await stat(join(folder, 'objects', 'pack', name)).catch(() => undefined))?.size ?? 0
  return total
}

function tooLarge(limit: number): AppError {
  const megabytes = Math.floor(limit / 1_048_576)
  return refused(
    remoteSyncReasons.sourceTooLarge,
    `the commit is larger than ${megabytes} MiB: remove large files from the repository or use Git LFS`,
  )
}

function fetchFailure(errors: string, commit: string): AppError {
  if (/not our ref|couldn't find remote ref|no such remote ref|unadvertised object/i.test(errors))
    return refused(remoteSyncReasons.commitNotFound, `GitHub does not have commit ${commit} (any more)`)
  return new AppError('unavailable', `git fetch failed: ${lastErrorLine(errors)}`, { reason: remoteSyncReasons.fetchFailed })
}

/**
 * Resolves with the bytes transferred. Rejects with an AppError whose reason is CommitNotFound or SourceTooLarge (trying again is useless)
 * or FetchFailed (it may help).
 */
export async function fetchCommit(
  request: FetchRequest,
  options: {
    readonly folder: string
    readonly limits: FetchLimits
    readonly environment: GitEnvironment
    readonly signal: AbortSignal
  },
): Promise<number> {
  const { folder, limits, environment, signal } = options
  const url = checkRepositoryUrl(request.repositoryUrl, request.web)
  const local = async (...words: readonly string[]): Promise<string> => {
    const result = await runGit({ folder, arguments: words, timeoutMilliseconds: localTimeoutMilliseconds, signal }, environment)
    if (result.code !== 0) throw refused(remoteSyncReasons.fetchFailed, `git ${words[0]} failed: ${lastErrorLine(result.errors)}`)
    return result.output.trim()
  }
  await makeEmptyRepository(folder, request.commit)
  const overLimit = new AbortController()
  let watching: Promise<void> = Promise.resolve()
  const watch = setInterval(() => {
    watching = packedBytes(folder).then(
      bytes => (bytes > limits.packedBytes ? overLimit.abort(tooLarge(limits.packedBytes)) : undefined),
      () => undefined,
    )
  }, watchMilliseconds)
  try {
    const words = ['fetch', '--quiet', '--depth=1', '--no-tags', '--no-recurse-submodules', '--no-write-fetch-head', '--refmap=']
    const result = await runGit(
      {
        folder,
        arguments: [...words, url.href, `${request.commit}:${sourceBranch}`],
        configuration: fetchConfiguration(url, request.token),
        timeoutMilliseconds: limits.timeoutMilliseconds,
        signal,
        limit: overLimit.signal,
      },
      environment,
    )
    if (result.code !== 0) throw fetchFailure(result.errors, request.commit)
  } catch (error) {
    if (error instanceof AppError && error.reason === undefined)
      throw new AppError('unavailable', messageOf(error), { cause: error, reason: remoteSyncReasons.fetchFailed })
    throw error
  } finally {
    clearInterval(watch)
    await watching
  }
  const bytes = await packedBytes(folder)
  if (bytes > limits.packedBytes) throw tooLarge(limits.packedBytes)
  await checkContent(folder, request.commit, limits.unpackedBytes, local)
  return bytes
}

/** What `git init --bare` makes (gitrepository-layout), without starting a process for it: a push waits for this. */
async function makeEmptyRepository(folder: string, commit: string): Promise<void> {
  const plain = '[core]\n\trepositoryformatversion = 0\n\tbare = true\n'
  const sha256 = '[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectformat = sha256\n'
  await mkdir(join(folder, 'objects', 'pack'), { recursive: true, mode: 0o700 })
  await mkdir(join(folder, 'refs', 'heads'), { recursive: true, mode: 0o700 })
  await writeFile(join(folder, 'config'), commit.length === 64 ? sha256 : plain)
  await writeFile(join(folder, 'HEAD'), `ref: ${sourceBranch}\n`)
}

/** git names objects by their content, so the right id under a verified pack is the right content. */
async function checkContent(
  folder: string,
  commit: string,
  unpackedBytes: number,
  local: (...words: readonly string[]) => Promise<string>,
): Promise<void> {
  // git writes a branch only when it names a commit that is there.
  const found = (await readFile(join(folder, sourceBranch), 'utf8')).trim()
  if (found !== commit) throw refused(remoteSyncReasons.fetchFailed, `GitHub answered with ${found} instead of ${commit}`)
  const sizes = await local('cat-file', '--batch-all-objects', '--unordered', '--buffer', '--batch-check=%(objectsize)').catch(
    (error: unknown) => {
      if (error instanceof AppError && error.code === 'payload_too_large') throw tooLarge(unpackedBytes)
      throw error
    },
  )
  const total = sizes.split('\n').reduce((sum, size) => sum + Number(size), 0)
  if (total > unpackedBytes) throw tooLarge(unpackedBytes)
}
