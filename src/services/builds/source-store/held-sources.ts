// The sources that the store holds: single commits as bare repositories, each under the fingerprint of its address, until its
// build ends. Owns the store's folder. It has no credential and sends no request: packs are brought to it, and it never serves
// what has expired.
import { randomBytes } from 'node:crypto'
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../../lib/clock.ts'
import { AppError } from '../../../lib/errors.ts'
import type { Log } from '../../../lib/log.ts'
import { type AcceptLimits, acceptPack } from './git/accept-pack.ts'
import type { PackOrder } from './orders/orders.ts'
import { sourceFingerprint } from './source-address.ts'
import { isExpired, readRecord, recordFile, repositoryFolder, type SourceRecord } from './source-record.ts'

export type HeldSources = {
  /** Makes the folders and deletes what a crash left behind, once. Every other function does it first if it has not been done. */
  readonly open: () => Promise<void>
  /** Whether the commit is stored and has not expired. */
  readonly has: (fingerprint: string) => Promise<boolean>
  /**
   * Stores a pack under the fingerprint, in place of what was there. Rejects as `acceptPack`, and with `unavailable` when the
   * store is full or accepts as many packs as it can at once.
   */
  readonly accept: (incoming: IncomingPack, signal: AbortSignal) => Promise<{ readonly bytes: number }>
  /** Deletes a source, which ends its address. Idempotent. */
  readonly revoke: (fingerprint: string) => Promise<void>
  /** Deletes every source that was fetched for the object with this uid. Idempotent. */
  readonly revokeOwner: (owner: string) => Promise<void>
  /** The folder of the repository at the address with this secret; undefined for unknown and expired ones. */
  readonly lookup: (secret: string) => Promise<string | undefined>
  /** Deletes the sources that have expired, and folders without a valid record. */
  readonly deleteExpired: () => Promise<void>
}

export type IncomingPack = {
  readonly fingerprint: string
  readonly order: PackOrder
  readonly pack: AsyncIterable<Uint8Array>
}

export type HeldSourcesDeps = {
  readonly folder: string
  readonly limits: AcceptLimits & { readonly totalBytes: number }
  readonly clock: Clock
  readonly log: Log
}

/** Packs that git reads at once: their memory is what the container's limit is sized by. */
export const maxAtOnce = 4

// Memory (source store, its own process): build → bare repository of one commit, on disk
//   life: until the build ends
//   bound: size, objects, files and depth of a commit; four packs at once; 20 commits of the largest size in all
//   freshness: the end of the build, expiry
//   replicas: beside the leader, which leads the Service to itself; the next fetches again (ADR 0028)
/** Reads and writes nothing before `open` or the first call. */
export function createHeldSources({ folder, limits, clock, log }: HeldSourcesDeps): HeldSources {
  const sources = join(folder, 'sources')
  const incoming = join(folder, 'incoming')
  let accepting = 0

  const folderOf = (fingerprint: string): string => join(sources, fingerprint)

  async function unexpired(source: string): Promise<SourceRecord | undefined> {
    const record = await readRecord(source)
    return record && !isExpired(record, clock.now()) ? record : undefined
  }

  async function records(): Promise<readonly { readonly source: string; readonly record: SourceRecord | undefined }[]> {
    const names = await readdir(sources)
    return Promise.all(names.map(async name => ({ source: join(sources, name), record: await readRecord(join(sources, name)) })))
  }

  async function remove(source: string): Promise<void> {
    await rm(source, { recursive: true, force: true })
  }

  async function deleteWhere(unwanted: (record: SourceRecord | undefined) => boolean): Promise<void> {
    for (const { source, record } of await records()) if (unwanted(record)) await remove(source)
  }

  function deleteInvalid(): Promise<void> {
    return deleteWhere(record => !record || isExpired(record, clock.now()))
  }

  /** Packs that are being accepted count with the most that they may become. */
  async function refuseWhenFull(): Promise<void> {
    const held = (await records()).reduce((sum, { record }) => sum + (record?.bytes ?? 0), 0)
    if (held + (accepting - 1) * limits.packedBytes < limits.totalBytes) return
    throw new AppError('unavailable', 'the source store is full: space is freed when builds end', { retryAfterSeconds: 30 })
  }

  async function acceptInto(target: string, { order, pack }: IncomingPack, signal: AbortSignal): Promise<number> {
    const { namespace, build, commit, owner, lifetimeSeconds, shallow, completeBelow } = order
    await refuseWhenFull()
    const work = join(incoming, randomBytes(12).toString('hex'))
    try {
      const started = clock.now().getTime()
      const bytes = await acceptPack(
        { folder: join(work, repositoryFolder), commit, shallow, completeBelow, limits, signal },
        pack,
      )
      const now = clock.now().getTime()
      const expiresAt = new Date(now + lifetimeSeconds * 1000).toISOString()
      const record: SourceRecord = { namespace, build, commit, owner, bytes, expiresAt }
      await writeFile(join(work, recordFile), JSON.stringify(record), { mode: 0o600 })
      await remove(target)
      await rename(work, target)
      log.info({ namespace, build, commit, bytes, milliseconds: now - started }, 'source stored')
      return bytes
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
    async has(fingerprint) {
      await open()
      return (await unexpired(folderOf(fingerprint))) !== undefined
    },
    async accept(pack, signal) {
      await open()
      if (accepting >= maxAtOnce)
        throw new AppError('unavailable', `the source store reads ${maxAtOnce} packs already`, { retryAfterSeconds: 5 })
      accepting++
      try {
        return { bytes: await acceptInto(folderOf(pack.fingerprint), pack, signal) }
      } finally {
        accepting--
      }
    },
    async revoke(fingerprint) {
      await open()
      await remove(folderOf(fingerprint))
    },
    async revokeOwner(owner) {
      await open()
      await deleteWhere(record => record?.owner === owner)
    },
    async lookup(secret) {
      await open()
      const source = folderOf(sourceFingerprint(secret))
      return (await unexpired(source)) ? join(source, repositoryFolder) : undefined
    },
    async deleteExpired() {
      await open()
      await deleteInvalid()
    },
  }
}
