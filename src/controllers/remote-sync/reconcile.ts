// Moves one RemoteSync from its source to a running Application, as far as it gets in one run, by stages: each gathers facts,
// decides (pure), and carries the decision out. Every run starts from what exists, and every write may be repeated after a
// crash. `save` alone writes the status.
import { type RemoteSync, remoteSyncReasons as reasons, remoteSync as remoteSyncs } from '../../api/apps/remote-sync.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import type { Outcome, ReconcileContext } from '../../kube/controller/controller.ts'
import type { BuildLimiter } from '../../services/builds/limits/build-limiter.ts'
import { reconcileWithFinalizer } from '../kit/reconcile-with-finalizer.ts'
import { outcomeOf } from '../kit/refusal.ts'
import { type BuildDeps, buildImage } from './building/build-image.ts'
import { type FetchDeps, fetchSource } from './building/fetch-source.ts'
import { decide } from './decide.ts'
import { fieldManager } from './deployment/apply-image.ts'
import { type DeployDeps, deployImage } from './deployment/deploy-image.ts'
import { type EndDeps, end, endOrphans, endRebases } from './ending/end-builds.ts'
import { type Facts, type GatherDeps, gather } from './gather.ts'
import type { Halt } from './halt.ts'
import { type RebaseDeps, type Rebasing, rebaseImage } from './rebase/rebase-image.ts'
import { type RestoreDeps, restoreImage } from './rebase/restore-image.ts'
import { admitCommit, type WallDeps } from './source/fork-wall.ts'
import { type ResolveDeps, resolveCommit } from './source/resolve-commit.ts'
import { save } from './stage.ts'

export type RemoteSyncDeps = GatherDeps &
  ResolveDeps &
  WallDeps &
  FetchDeps &
  BuildDeps &
  DeployDeps &
  RebaseDeps &
  RestoreDeps &
  EndDeps & {
    readonly client: Pick<KubeClient, 'mergePatch'>
    readonly limiter: Pick<BuildLimiter, 'dequeue'>
  }

/** What one run works with. */
type Run = Pick<ReconcileContext, 'log' | 'signal'> & { readonly deps: RemoteSyncDeps; readonly facts: Facts }

/** `requeueAfterMilliseconds`: when to look again although nothing halted. */
type Advanced = Rebasing & { readonly halted?: Halt | undefined }

/** The stages in order; the first one that halts ends the run. What runs its newest commit may get a newer run image. */
async function advance(gathered: Run): Promise<Advanced> {
  const refused = decide(gathered.facts)
  const run = refused === undefined ? await restoreImage(gathered) : gathered
  const resolved = await admitCommit(run, await resolveCommit(run, refused))
  if (resolved.halted) return resolved
  const fetched = await fetchSource(run, resolved)
  if (fetched.halted) return fetched
  const built = await buildImage(run, fetched)
  if (built.halted) return built
  const deployed = await deployImage(run, built)
  return deployed.halted ? deployed : rebaseImage(run, deployed.state)
}

async function keep(deps: RemoteSyncDeps, remoteSync: RemoteSync, { log, signal }: ReconcileContext): Promise<Outcome> {
  const facts = gather(deps, remoteSync)
  const { state, halted, requeueAfterMilliseconds } = await advance({ deps, facts, log, signal })
  if (halted?.reason !== reasons.queued) deps.limiter.dequeue(facts.owner.uid)
  await save(deps, state, halted)
  if (halted !== undefined) await endRebases(deps, facts.owner, log)
  return outcomeOf(halted, requeueAfterMilliseconds)
}

/** @throws what the API server, the builder or GitHub answered where a retry may help */
export async function reconcileRemoteSync(deps: RemoteSyncDeps, context: ReconcileContext): Promise<Outcome> {
  const { client, status, caches } = deps
  await endOrphans(deps, context)
  return reconcileWithFinalizer(
    {
      type: remoteSyncs,
      finalizer: fieldManager,
      client,
      cache: caches.remoteSyncs,
      status,
      keep: remoteSync => keep(deps, remoteSync, context),
      end: remoteSync => end(deps, remoteSync),
    },
    context,
  )
}
