// Moves one RemoteSync from its source to a running Application, as far as it goes in one run: checks, grant, commit, build, deploy.
// Level-based: every run starts from what is there. What it waits for wakes it (grant, build, Application, webhook); the sweep finds the rest.
import { remoteSync as remoteSyncs } from '../../api/apps/remote-sync.ts'
import { type RepositoryGrant, repositoryGrant } from '../../api/github/repository-grant.ts'
import { isKubeError } from '../../kube/client/errors.ts'
import { done, type Outcome, type ReconcileContext, requeueAfter } from '../../kube/controller/controller.ts'
import { addFinalizer } from '../../kube/object/finalizers.ts'
import { stopOf } from './access.ts'
import { ensureBuilt } from './build.ts'
import { decide } from './decide.ts'
import { ensureDeployed } from './deploy.ts'
import { finalize, finalizer } from './finalize.ts'
import { gather } from './gather.ts'
import { desiredGrant, grantName, planGrant } from './grant.ts'
import { isStop, type RemoteSyncStatus, reasons, type Stop, stop } from './progress.ts'
import { resolveCommit } from './resolve.ts'
import { accessOf, change, fieldManager, type RemoteSyncDeps, type Run, save, startRun } from './run.ts'
import { isNewSpec, isNewWake, mustResolve, signalledAt, wakeOf } from './wake.ts'

/** When GitHub was last asked, by uid: forgotten by a restart on purpose, which then asks once more. */
export type LastChecks = Map<string, number>

async function ensureGrant(run: Run): Promise<RepositoryGrant | Stop> {
  const { deps, remoteSync, facts } = run
  const plan = planGrant(remoteSync, facts.grant, deps.clock.now())
  const name = grantName(remoteSync)
  const key = { namespace: run.owner.namespace, name }
  change(run, { grant: name })
  switch (plan.kind) {
    case 'stop':
      return plan
    case 'use':
      return plan.grant
    case 'replace':
      await deps.client.delete(repositoryGrant, key, { uid: plan.uid })
      return stop('Resolved', reasons.waitingForGrant, `${name} is being replaced`)
    case 'create':
      try {
        await deps.client.create(repositoryGrant, desiredGrant(remoteSync), { fieldManager })
      } catch (error) {
        // The cache is behind: whatever stands there is judged when it shows it.
        if (!isKubeError(error, 409)) throw error
      }
      return stop('Resolved', reasons.waitingForGrant, `${name} is not decided yet`)
    default: {
      const never: never = plan
      return never
    }
  }
}

type Resolved = { readonly commit: string; readonly retry: boolean }

async function ensureResolved(run: Run, grant: RepositoryGrant, checks: LastChecks): Promise<Resolved | Stop> {
  const { deps, remoteSync, owner } = run
  const now = deps.clock.now()
  const known = run.draft.commit
  if (known !== undefined && !mustResolve(remoteSync, checks.get(owner.uid), now, deps.sweepMilliseconds))
    return { commit: known, retry: false }
  try {
    const access = await accessOf(run, grant)
    const commit = await resolveCommit(deps.openRepository(access), remoteSync, access.repository)
    checks.set(owner.uid, now.getTime())
    const retry = isNewWake(remoteSync) || isNewSpec(remoteSync)
    const wake = wakeOf(remoteSync)
    if (wake !== undefined) change(run, { handledWake: wake })
    if (isStop(commit)) return commit
    if (commit !== known) {
      const phases = { signalledAt: signalledAt(remoteSync, now), resolvedAt: deps.clock.now().toISOString() }
      change(run, { commit, phases })
    }
    return { commit, retry }
  } catch (error) {
    return stopOf('Resolved', error)
  }
}

async function advance(run: Run, checks: LastChecks): Promise<Stop | undefined> {
  const refused = decide(run.facts)
  if (refused) return refused
  const grant = await ensureGrant(run)
  if (isStop(grant)) return grant
  const resolved = await ensureResolved(run, grant, checks)
  if (isStop(resolved)) return resolved
  const unbuilt = await ensureBuilt(run, grant, resolved.commit, resolved.retry)
  if (unbuilt) return unbuilt
  const { image, imageCommit }: RemoteSyncStatus = run.draft
  if (image === undefined || imageCommit === undefined) return stop('Built', reasons.building, 'there is no image yet')
  return ensureDeployed(run, image, imageCommit)
}

export async function reconcileRemoteSync(deps: RemoteSyncDeps, checks: LastChecks, context: ReconcileContext): Promise<Outcome> {
  const facts = gather(deps.caches, context.key, deps.status.latest)
  if (!facts) return done
  if (facts.remoteSync.metadata.deletionTimestamp !== undefined) {
    const { uid = '' } = facts.remoteSync.metadata
    checks.delete(uid)
    deps.slots.leave(uid)
    return finalize(deps, facts.remoteSync)
  }
  const held = await addFinalizer(deps.client, remoteSyncs, facts.remoteSync, finalizer)
  if (!held) return done
  const run = startRun(deps, facts, facts.remoteSync, context)
  const stopped = await advance(run, checks)
  if (stopped?.reason !== reasons.queued) deps.slots.leave(run.owner.uid)
  await save(run, stopped)
  if (stopped?.afterMilliseconds !== undefined) return requeueAfter(stopped.afterMilliseconds)
  if (stopped?.error !== undefined) throw stopped.error
  return done
}
