// Ends builds and closes the addresses of their sources: when a RemoteSync is deleted, when it went without its finalizer, and
// when what is being built is not deployed any more. For `reconcile.ts` only; every function may be repeated after a crash.
import { type RemoteSync, remoteSync as remoteSyncs } from '../../../api/apps/remote-sync.ts'
import type { KubeClient } from '../../../kube/client/client.ts'
import type { Outcome, ReconcileContext } from '../../../kube/controller/controller.ts'
import type { Log } from '../../../lib/log.ts'
import type { Builder, BuildOwner } from '../../../services/builds/builder.ts'
import type { BuildLimiter } from '../../../services/builds/limits/build-limiter.ts'
import type { SourceStore } from '../../../services/builds/source-store/source-store.ts'
import type { ReportWait } from '../../kit/reconcile-with-finalizer.ts'
import type { RemoteSyncCaches } from '../gather.ts'
import type { LastChecks } from '../last-checks.ts'
import { builtPreview } from '../promotion/built-preview.ts'
import type { RecentPreviews } from '../promotion/recent-previews.ts'

export type EndDeps = {
  readonly builder: Pick<Builder, 'ofOwner' | 'ofKey' | 'cancel'>
  readonly sources: Pick<SourceStore, 'revokeOwner'>
  readonly limiter: Pick<BuildLimiter, 'leave'>
  readonly client: Pick<KubeClient, 'get'>
  readonly caches: Pick<RemoteSyncCaches, 'remoteSyncs'>
  readonly lastChecks: Pick<LastChecks, 'delete'>
  readonly recentPreviews: Pick<RecentPreviews, 'remember'>
  readonly awaitReports: ReportWait
}

/** Ends what is being built for the RemoteSync. `but`: the name of a rebase, which goes on: it is of the image that is kept. */
export async function endBuilds(
  { builder, sources }: Pick<EndDeps, 'builder' | 'sources'>,
  owner: BuildOwner,
  log: Log,
  but?: string,
): Promise<void> {
  const running = builder.ofOwner(owner).filter(({ ended, key }) => !ended && key.name !== but)
  if (running.length === 0) return
  await sources.revokeOwner(owner.uid)
  for (const { key } of running) {
    await builder.cancel(key)
    log.info({ build: key.name }, 'build cancelled: its commit is not deployed any more')
  }
}

/**
 * Ends rebases that run: one goes on only while nothing else is to be done, and nobody looks at the time of one that hangs
 * otherwise.
 */
export async function endRebases({ builder }: Pick<EndDeps, 'builder'>, owner: BuildOwner, log: Log): Promise<void> {
  for (const { key } of builder.ofOwner(owner).filter(({ ended, isRebase }) => !ended && isRebase === true)) {
    await builder.cancel(key)
    log.info({ build: key.name }, 'rebase ended: something else is to be done')
  }
}

/**
 * Ends the builds, which the garbage collector does not reach in their own namespace, and the addresses of their sources; waits
 * for its report on GitHub. The grant goes by its owner reference; the Application stays and keeps serving.
 */
export async function end(deps: EndDeps, remoteSync: RemoteSync): Promise<Outcome | undefined> {
  const { kind, metadata } = remoteSync
  const { namespace = '', name, uid = '' } = metadata
  const preview = builtPreview(remoteSync)
  if (preview) deps.recentPreviews.remember(namespace, uid, preview)
  deps.lastChecks.delete(uid)
  deps.limiter.leave({ kind, namespace, name })
  for (const { key } of deps.builder.ofOwner({ kind, namespace, name, uid })) await deps.builder.cancel(key)
  await deps.sources.revokeOwner(uid)
  return deps.awaitReports(uid)
}

/**
 * Ends what is left of RemoteSyncs that went without `end`: a tenant can remove the finalizer. Its builds would occupy the
 * tenant's slots, and the addresses of its sources would stay open. The API server is asked whether the owner is gone: the
 * cache may be behind.
 */
export async function endOrphans(deps: EndDeps, { key, log }: Pick<ReconcileContext, 'key' | 'log'>): Promise<void> {
  const { builder, caches, client, limiter, sources } = deps
  const uid = caches.remoteSyncs.get(key)?.metadata.uid
  limiter.leave({ kind: remoteSyncs.kind, namespace: key.namespace ?? '', name: key.name }, uid)
  const suspects = builder.ofKey(remoteSyncs.kind, key).filter(({ ownerUid }) => ownerUid !== uid)
  if (suspects.length === 0) return
  const live = await client.get(remoteSyncs, key)
  const orphans = suspects.filter(({ ownerUid }) => ownerUid !== live?.metadata.uid)
  for (const uidOfOwner of new Set(orphans.map(({ ownerUid }) => ownerUid))) await sources.revokeOwner(uidOfOwner)
  for (const orphan of orphans) {
    await builder.cancel(orphan.key)
    log.info({ build: orphan.key.name }, 'build without an owner cancelled')
  }
}
