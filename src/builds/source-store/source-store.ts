// The source store: holds single commits as bare repositories, each under an unguessable address that dies with its build.
// Owns its data folder. It learns no GitHub token beyond the moment of one fetch, and it serves nothing that has expired.
import { randomBytes } from 'node:crypto'
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { SecretString } from '../../lib/secret-string.ts'
import { SingleFlight } from '../../lib/single-flight.ts'
import { type FetchLimits, type FetchRequest, fetchCommit } from './fetch-commit.ts'
import type { GitEnvironment } from './git-command.ts'
import { type SourceIdentity, sourceFingerprint, sourceSecret, sourceUrl } from './source-address.ts'
import { isExpired, readRecord, recordFile, repositoryFolder, type SourceRecord } from './source-record.ts'

export type SourceRequest = FetchRequest & {
  readonly identity: SourceIdentity
  /** The uid of the RemoteSync: what `revokeOwner` ends. */
  readonly owner: string
  readonly lifetimeSeconds: number
}

export type SourceStore = {
  /** Makes the folders and deletes what a crash left behind, once; every other call does it first when nobody has. */
  readonly open: () => Promise<void>
  /** Whether the commit is there and will be for a while. */
  readonly has: (identity: SourceIdentity) => Promise<boolean>
  /** The address, whether or not the commit is there. */
  readonly url: (identity: SourceIdentity) => string
  /** Fetches unless it is there; equal requests share one fetch. Errors as `fetchCommit`, or `unavailable` when the store is full. */
  readonly ensure: (request: SourceRequest, signal: AbortSignal) => Promise<{ readonly url: string }>
  readonly revoke: (identity: SourceIdentity) => Promise<void>
  readonly revokeOwner: (owner: string) => Promise<void>
  /** The folder of the repository that this secret opens; undefined for unknown and expired ones. */
  readonly lookup: (secret: string) => Promise<string | undefined>
  readonly deleteExpired: () => Promise<void>
}

export type SourceStoreDeps = {
  readonly dataFolder: string
  /** Keys the addresses; the same after a restart. 32 random bytes in any text form. */
  readonly addressKey: SecretString
  /** Where builds reach the server, such as http://sekisho-sources.sekisho-system.svc:8081. */
  readonly publicUrl: URL
  readonly limits: FetchLimits & { readonly totalBytes: number }
  readonly gitEnvironment?: GitEnvironment
  readonly clock: Clock
  readonly log: Log
}

export function createSourceStore(deps: SourceStoreDeps): SourceStore {
  const sources = join(deps.dataFolder, 'sources')
  const incoming = join(deps.dataFolder, 'incoming')
  const flights = new SingleFlight<void>()

  const secretOf = (identity: SourceIdentity): string => sourceSecret(deps.addressKey, identity)
  const folderOf = (identity: SourceIdentity): string => join(sources, sourceFingerprint(secretOf(identity)))
  const urlOf = (identity: SourceIdentity): string => sourceUrl(deps.publicUrl, secretOf(identity))

  async function live(folder: string): Promise<SourceRecord | undefined> {
    const record = await readRecord(folder)
    return record && !isExpired(record, deps.clock.now()) ? record : undefined
  }

  async function records(): Promise<readonly { readonly folder: string; readonly record: SourceRecord | undefined }[]> {
    const names = await readdir(sources)
    return Promise.all(names.map(async name => ({ folder: join(sources, name), record: await readRecord(join(sources, name)) })))
  }

  async function remove(folder: string): Promise<void> {
    await rm(folder, { recursive: true, force: true })
  }

  async function deleteWhere(unwanted: (record: SourceRecord | undefined) => boolean): Promise<void> {
    for (const { folder, record } of await records()) if (unwanted(record)) await remove(folder)
  }

  async function refuseWhenFull(): Promise<void> {
    const used = (await records()).reduce((sum, { record }) => sum + (record?.bytes ?? 0), 0)
    if (used < deps.limits.totalBytes) return
    throw new AppError('unavailable', 'the source store is full: it empties as builds end', { retryAfterSeconds: 30 })
  }

  async function fetchInto(request: SourceRequest, signal: AbortSignal): Promise<void> {
    const target = folderOf(request.identity)
    await refuseWhenFull()
    const work = join(incoming, randomBytes(12).toString('hex'))
    try {
      const started = deps.clock.now().getTime()
      const bytes = await fetchCommit(request, {
        folder: join(work, repositoryFolder),
        limits: deps.limits,
        environment: deps.gitEnvironment ?? {},
        signal,
      })
      const now = deps.clock.now().getTime()
      const record: SourceRecord = {
        ...request.identity,
        owner: request.owner,
        bytes,
        expiresAt: new Date(now + request.lifetimeSeconds * 1000).toISOString(),
      }
      await writeFile(join(work, recordFile), JSON.stringify(record), { mode: 0o600 })
      await remove(target)
      await rename(work, target)
      deps.log.info({ ...request.identity, bytes, milliseconds: now - started }, 'source fetched')
    } finally {
      await remove(work)
    }
  }

  async function cleanUp(): Promise<void> {
    await mkdir(sources, { recursive: true, mode: 0o700 })
    await remove(incoming)
    await mkdir(incoming, { recursive: true, mode: 0o700 })
    await deleteWhere(record => !record || isExpired(record, deps.clock.now()))
  }

  let opened: Promise<void> | undefined
  /** A failed opening is tried again by the next call. */
  function open(): Promise<void> {
    opened ??= cleanUp().catch((error: unknown) => {
      opened = undefined
      throw error
    })
    return opened
  }

  return {
    url: urlOf,
    open,
    async has(identity) {
      await open()
      return (await live(folderOf(identity))) !== undefined
    },
    async ensure(request, signal) {
      await open()
      const { identity } = request
      if (!(await live(folderOf(identity)))) await flights.run(folderOf(identity), () => fetchInto(request, signal))
      return { url: urlOf(identity) }
    },
    async revoke(identity) {
      await open()
      await remove(folderOf(identity))
    },
    async revokeOwner(owner) {
      await open()
      await deleteWhere(record => record?.owner === owner)
    },
    async lookup(secret) {
      await open()
      const folder = join(sources, sourceFingerprint(secret))
      return (await live(folder)) ? join(folder, repositoryFolder) : undefined
    },
    async deleteExpired() {
      await open()
      await deleteWhere(record => !record || isExpired(record, deps.clock.now()))
    },
  }
}
