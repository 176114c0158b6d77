// Fetches exactly one commit of one repository into an empty bare repository, and verifies that it is that commit.
// The token is only in the environment of the git process: never in arguments, URLs or files. One host, one protocol, no redirects,
// no tags, no submodules, no LFS. It never writes outside `folder`.
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { remoteSyncReasons } from '../../api/apps/remote-sync.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError, messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { periodic } from '../../lib/periodic.ts'
import type { SecretString } from '../../lib/secret-string.ts'
import { type GitConfiguration, lastErrorLine, runGit } from './git-command.ts'

export type FetchRequest = {
  /** The repository, such as https://github.com/acme/shop.git. */
  readonly repositoryUrl: string
  /** The web address of the GitHub host as a platform admin configured it: the only origin that is contacted. */
  readonly web: string
  readonly commit: string
  readonly token: SecretString
}

export type FetchLimits = {
  readonly timeoutMilliseconds: number
  /** Maximum size of the transferred pack. */
  readonly packedBytes: number
  /** Maximum size of all objects unpacked: a small pack can hold a huge tree. */
  readonly unpackedBytes: number
}

export type FetchDeps = {
  readonly limits: FetchLimits
  readonly clock: Pick<Clock, 'sleep'>
  readonly log: Pick<Log, 'error'>
}

const localTimeoutMilliseconds = 30_000
const sizeCheckMilliseconds = 100

/** The branch that names the commit; a clone of the source checks it out. */
const sourceBranch = 'refs/heads/source'

function refused(reason: string, message: string): AppError {
  return new AppError('upstream_failed', message, { reason })
}

/**
 * The parsed URL. https, or http where the configured host itself is http (an emulator, a private network).
 * @throws AppError FetchFailed for another origin or protocol, and for a URL with credentials
 */
function checkRepositoryUrl(repositoryUrl: string, web: string): URL {
  const url = new URL(repositoryUrl)
  const allowed = new URL(web)
  if (url.origin !== allowed.origin) throw refused(remoteSyncReasons.fetchFailed, `the repository is not on ${allowed.origin}`)
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw refused(remoteSyncReasons.fetchFailed, 'only https repositories are fetched')
  if (url.username !== '' || url.password !== '')
    throw refused(remoteSyncReasons.fetchFailed, 'a repository URL must hold no credential')
  return url
}

/** Basic authentication as `x-access-token`, which GitHub documents for installation tokens over HTTP. */
function fetchConfiguration(url: URL, token: SecretString): GitConfiguration {
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
    return refused(remoteSyncReasons.commitNotFound, `commit ${commit} does not exist on GitHub (any more)`)
  return new AppError('unavailable', `git fetch failed: ${lastErrorLine(errors)}`, { reason: remoteSyncReasons.fetchFailed })
}

/**
 * Resolves to the bytes transferred. Rejects with an AppError whose reason is CommitNotFound or SourceTooLarge (a retry cannot help)
 * or FetchFailed (a retry may help).
 */
export async function fetchCommit(
  request: FetchRequest,
  options: FetchDeps & { readonly folder: string; readonly signal: AbortSignal },
): Promise<number> {
  const { folder, limits, signal } = options
  const url = checkRepositoryUrl(request.repositoryUrl, request.web)
  const local = async (...words: readonly string[]): Promise<string> => {
    const result = await runGit({ folder, arguments: words, timeoutMilliseconds: localTimeoutMilliseconds, signal })
    if (result.code !== 0) throw refused(remoteSyncReasons.fetchFailed, `git ${words[0]} failed: ${lastErrorLine(result.errors)}`)
    return result.output.trim()
  }
  await makeEmptyRepository(folder, request.commit)
  const overLimit = new AbortController()
  const sizeCheck = periodic({
    ...options,
    name: 'size check of a fetch',
    everyMilliseconds: sizeCheckMilliseconds,
    work: async () => {
      if ((await packedBytes(folder)) > limits.packedBytes) overLimit.abort(tooLarge(limits.packedBytes))
    },
  })
  sizeCheck.start()
  try {
    const words = ['fetch', '--quiet', '--depth=1', '--no-tags', '--no-recurse-submodules', '--no-write-fetch-head', '--refmap=']
    const result = await runGit({
      folder,
      arguments: [...words, url.href, `${request.commit}:${sourceBranch}`],
      configuration: fetchConfiguration(url, request.token),
      timeoutMilliseconds: limits.timeoutMilliseconds,
      signal,
      limit: overLimit.signal,
    })
    if (result.code !== 0) throw fetchFailure(result.errors, request.commit)
  } catch (error) {
    if (error instanceof AppError && error.reason === undefined)
      throw new AppError('unavailable', messageOf(error), { cause: error, reason: remoteSyncReasons.fetchFailed })
    throw error
  } finally {
    await sizeCheck.stop()
  }
  const bytes = await packedBytes(folder)
  if (bytes > limits.packedBytes) throw tooLarge(limits.packedBytes)
  await checkContent(folder, request.commit, limits.unpackedBytes, local)
  return bytes
}

/** Writes what `git init --bare` writes (gitrepository-layout) without starting a process, which would add to the time from push to URL. */
async function makeEmptyRepository(folder: string, commit: string): Promise<void> {
  const plain = '[core]\n\trepositoryformatversion = 0\n\tbare = true\n'
  const sha256 = '[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectformat = sha256\n'
  await mkdir(join(folder, 'objects', 'pack'), { recursive: true, mode: 0o700 })
  await mkdir(join(folder, 'refs', 'heads'), { recursive: true, mode: 0o700 })
  await writeFile(join(folder, 'config'), commit.length === 64 ? sha256 : plain)
  await writeFile(join(folder, 'HEAD'), `ref: ${sourceBranch}\n`)
}

/** git names objects by their content, so the expected id in a verified pack is the expected content. */
async function checkContent(
  folder: string,
  commit: string,
  unpackedBytes: number,
  local: (...words: readonly string[]) => Promise<string>,
): Promise<void> {
  // git writes a branch only when the commit that it names is present.
  const found = (await readFile(join(folder, sourceBranch), 'utf8')).trim()
  if (found !== commit) throw refused(remoteSyncReasons.fetchFailed, `git fetched ${found} instead of ${commit}`)
  const sizes = await local('cat-file', '--batch-all-objects', '--unordered', '--buffer', '--batch-check=%(objectsize)').catch(
    (error: unknown) => {
      if (error instanceof AppError && error.code === 'payload_too_large') throw tooLarge(unpackedBytes)
      throw error
    },
  )
  const total = sizes.split('\n').reduce((sum, size) => sum + Number(size), 0)
  if (total > unpackedBytes) throw tooLarge(unpackedBytes)
}
