// The source store: holds single commits as bare repositories, each under an unguessable address that ends with its build.
// Owns its data folder. It holds a GitHub token only during a fetch, and it never serves what has expired.
import { randomBytes } from 'node:crypto'
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { SecretString } from '../../lib/secret-string.ts'
import { SingleFlight } from '../../lib/single-flight.ts'
import { type FetchLimits, type FetchRequest, fetchCommit } from './fetch-commit.ts'
import { type SourceIdentity, sourceFingerprint, sourceSecret, sourceUrl } from './source-address.ts'
import { isExpired, readRecord, recordFile, repositoryFolder, type SourceRecord } from './source-record.ts'

export type SourceRequest = FetchRequest & {
  readonly identity: SourceIdentity
  /** The uid of the object for which it is fetched: `revokeOwner` takes it. */
  readonly owner: string
  /** From the end of the fetch. */
  readonly lifetimeSeconds: number
}

export type SourceStore = {
  /** Makes the folders and deletes what a crash left behind, once. Every other function does it first if it has not been done. */
  readonly open: () => Promise<void>
  /** Whether the commit is stored and has not expired. */
  readonly has: (identity: SourceIdentity) => Promise<boolean>
  /**
   * Resolves to the address of the source; fetches it unless it is stored, and equal requests share one fetch.
   * Rejects as `fetchCommit`, and with `unavailable` when the store is full.
   */
  readonly ensure: (request: SourceRequest, signal: AbortSignal) => Promise<{ readonly url: string }>
  /** Deletes a source, which ends its address. Idempotent. */
  readonly revoke: (identity: SourceIdentity) => Promise<void>
  /** Deletes every source that was fetched for the object with this uid. Idempotent. */
  readonly revokeOwner: (owner: string) => Promise<void>
  /** The folder of the repository at the address with this secret; undefined for unknown and expired ones. */
  readonly lookup: (secret: string) => Promise<string | undefined>
  /** Deletes the sources that have expired, and folders without a valid record. */
  readonly deleteExpired: () => Promise<void>
}

export type SourceStoreDeps = {
  readonly dataFolder: string
  /** The key of the addresses, the same after a restart: 32 random bytes in any text form. */
  readonly addressKey: SecretString
  /** The address at which builds reach the server, such as http://sekisho-source.sekisho-system.svc:8081. */
  readonly publicUrl: URL
  readonly limits: FetchLimits & { readonly totalBytes: number }
  readonly clock: Clock
  readonly log: Log
}

/** Reads and writes nothing before `open` or the first call. */
export function createSourceStore(deps: SourceStoreDeps): SourceStore {
  const sources = join(deps.dataFolder, 'sources')
  const incoming = join(deps.dataFolder, 'incoming')
  const flights = new SingleFlight<void>()

  const secretOf = (identity: SourceIdentity): string => sourceSecret(deps.addressKey, identity)
  const folderOf = (identity: SourceIdentity): string => join(sources, sourceFingerprint(secretOf(identity)))

  async function unexpired(folder: string): Promise<SourceRecord | undefined> {
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

  function deleteInvalid(): Promise<void> {
    return deleteWhere(record => !record || isExpired(record, deps.clock.now()))
  }

  async function refuseWhenFull(): Promise<void> {
    const used = (await records()).reduce((sum, { record }) => sum + (record?.bytes ?? 0), 0)
    if (used < deps.limits.totalBytes) return
    throw new AppError('unavailable', 'the source store is full: space is freed when builds end', { retryAfterSeconds: 30 })
  }

  async function fetchInto(request: SourceRequest, signal: AbortSignal): Promise<void> {
    const target = folderOf(request.identity)
    await refuseWhenFull()
    const work = join(incoming, randomBytes(12).toString('hex'))
    try {
      const started = deps.clock.now().getTime()
      const bytes = await fetchCommit(request, { ...deps, folder: join(work, repositoryFolder), signal })
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
    await deleteInvalid()
  }

  let opened: Promise<void> | undefined
  /** The next call retries after a failure. */
  function open(): Promise<void> {
    opened ??= cleanUp().catch((error: unknown) => {
      opened = undefined
      throw error
    })
    return opened
  }

  return {
    open,
    async has(identity) {
      await open()
      return (await unexpired(folderOf(identity))) !== undefined
    },
    async ensure(request, signal) {
      await open()
      const { identity } = request
      if (!(await unexpired(folderOf(identity)))) await flights.run(folderOf(identity), () => fetchInto(request, signal))
      return { url: sourceUrl(deps.publicUrl, secretOf(identity)) }
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
      return (await unexpired(folder)) ? join(folder, repositoryFolder) : undefined
    },
    async deleteExpired() {
      await open()
      await deleteInvalid()
    },
  }
}
