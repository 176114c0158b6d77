// The first stage. Resolved: the checks hold, the owned grant is approved, and the commit is known.
import type { KubeClient } from '../../../kube/client/client.ts'
import { ensureOwnedGrant } from '../../kit/repository/ensure-owned-grant.ts'
import { ownedGrantName, planOwnedGrant } from '../../kit/repository/owned-grant.ts'
import { fieldManager } from '../deployment/apply-image.ts'
import type { Facts } from '../gather.ts'
import { type Halt, halt, haltOf } from '../halt.ts'
import type { StageResult } from '../stage.ts'
import { type ReconcileState, withoutCommit, withStatus } from '../status.ts'
import { type AskDeps, askGitHub } from './ask-github.ts'
import { type OpenRepository, type OpenRepositoryDeps, openRepositoryOnce } from './open-repository.ts'
import { mergeConflict } from './pull-request.ts'
import { isNewSpec, knownConflict, mustResolve } from './wake.ts'

export type ResolveDeps = AskDeps &
  OpenRepositoryDeps & {
    readonly client: Pick<KubeClient, 'create' | 'delete'>
    /** How long GitHub may go unasked when no webhook comes. */
    readonly sweepMilliseconds: number
  }

/** `retry`: something changed since the last reconcile, so that a commit that failed is built once more. */
export type Resolved = { readonly commit: string; readonly retry: boolean; readonly repository: OpenRepository }

type Run = { readonly deps: ResolveDeps; readonly facts: Facts }

const actor = 'sekisho:remote-sync'

/** `refused`: what was decided before GitHub is asked. @throws KubeError where a retry may help */
export async function resolveCommit(run: Run, refused: Halt | undefined): StageResult<Resolved> {
  const { deps, facts } = run
  const { remoteSync, now } = facts
  const before: ReconcileState = { remoteSync, status: remoteSync.status ?? {} }
  // The commit of another source must not be built under this one, also when this run halts before GitHub is asked.
  const initial = isNewSpec(remoteSync) ? withoutCommit(before) : before
  if (refused) return { state: initial, halted: refused }
  const plan = planOwnedGrant(remoteSync, facts.grant, now)
  const state = withStatus(initial, { grant: ownedGrantName(remoteSync) })
  if (plan.kind !== 'use') {
    const { reason, message, ...retry } = await ensureOwnedGrant(deps.client, { owner: remoteSync, plan, fieldManager })
    return { state, halted: halt('Resolved', reason, message, retry) }
  }
  const conflict = knownConflict(facts, deps.sweepMilliseconds)
  if (conflict !== undefined) return { state, halted: mergeConflict(conflict, now) }
  const { app = '', installationId = 0 } = facts.installation?.spec ?? {}
  const repository = openRepositoryOnce(deps, { owner: remoteSync, grant: plan.grant, app, actor }, installationId)
  const known = state.status.commit
  if (known !== undefined && !mustResolve(facts, deps.sweepMilliseconds))
    return { state, commit: known, retry: false, repository }
  try {
    const answered = await askGitHub(deps, facts, state, repository)
    return answered.halted ? answered : { ...answered, repository }
  } catch (error) {
    return { state, halted: haltOf('Resolved', error) }
  }
}
