// One reconcile of one RemoteSync under way: what it knows, what it may use, and the status fields it has decided so far.
// The draft is the only thing that changes during a run; it is written by `save`, and only when it says something new.
import type { RemoteSync } from '../../api/apps/remote-sync.ts'
import type { RepositoryGrant } from '../../api/github/repository-grant.ts'
import type { BuildSlots } from '../../builds/build-slots.ts'
import type { Builder, BuildKey, BuildOwner } from '../../builds/builder.ts'
import type { SourceStore } from '../../builds/source-store/source-store.ts'
import type { RepositoryClient } from '../../github/index.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { StatusWriter } from '../status-writer.ts'
import { type Access, type AccessDeps, openAccess } from './access.ts'
import type { Facts, RemoteSyncCaches } from './gather.ts'
import type { Phases, RemoteSyncStatus, Stop } from './progress.ts'
import { nextStatus } from './status.ts'

export type RemoteSyncDeps = AccessDeps & {
  readonly client: Pick<KubeClient, 'get' | 'create' | 'apply' | 'mergePatch' | 'delete'>
  readonly caches: RemoteSyncCaches
  readonly openRepository: (access: Access) => Pick<RepositoryClient, 'branch' | 'pullRequest'>
  readonly sources: Pick<SourceStore, 'has' | 'url' | 'ensure' | 'revoke' | 'revokeOwner'>
  readonly builder: Builder
  readonly slots: BuildSlots
  readonly clock: Clock
  /** Builds that may run at once on the whole platform. */
  readonly platformBuilds: number
  readonly status: StatusWriter<RemoteSync>
  /** How long GitHub may go unasked when no webhook comes. */
  readonly sweepMilliseconds: number
}

export const fieldManager = 'sekisho.dev/remote-sync'

export type Run = {
  readonly deps: RemoteSyncDeps
  readonly facts: Facts
  /** With the status as it was last written. */
  remoteSync: RemoteSync
  readonly owner: BuildOwner
  readonly log: Log
  readonly signal: AbortSignal
  draft: RemoteSyncStatus
  access: Promise<Access> | undefined
}

export function startRun(
  deps: RemoteSyncDeps,
  facts: Facts,
  remoteSync: RemoteSync,
  context: { readonly log: Log; readonly signal: AbortSignal },
): Run {
  const { namespace = '', name, uid = '' } = remoteSync.metadata
  return {
    deps,
    facts,
    remoteSync,
    owner: { namespace, name, uid },
    ...context,
    draft: remoteSync.status ?? {},
    access: undefined,
  }
}

export function change(run: Run, fields: Partial<RemoteSyncStatus>): void {
  run.draft = { ...run.draft, ...fields }
}

export function phase(run: Run, times: Partial<Phases>): void {
  run.draft = { ...run.draft, phases: { ...run.draft.phases, ...times } }
}

export function moment(run: Run): string {
  return run.deps.clock.now().toISOString()
}

/** The one token of this run; a second call gives the same one. */
export function accessOf(run: Run, grant: RepositoryGrant): Promise<Access> {
  const app = run.facts.installation?.spec.app ?? ''
  run.access ??= openAccess(run.deps, run.remoteSync, grant, app)
  return run.access
}

export function buildKey(run: Run, name: string): BuildKey {
  return { namespace: run.facts.tenant?.status?.buildNamespace ?? '', name }
}

/** Writes the draft with the conditions that `stopped` implies, unless the status says so already. */
export async function save(run: Run, stopped: Stop | undefined): Promise<void> {
  const { deps } = run
  run.remoteSync = await deps.status.write(run.remoteSync, nextStatus(run.remoteSync, run.draft, stopped, deps.clock.now()))
}
