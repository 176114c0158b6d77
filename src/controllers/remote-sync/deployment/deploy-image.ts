// The last stage of a RemoteSync. Deployed: image and commit are set on the Application. Ready: the Application has rolled them
// out.
import type { Clock } from '../../../lib/clock.ts'
import type { BuiltImage } from '../desired.ts'
import type { Facts } from '../gather.ts'
import { applicationNotFound, type Halt } from '../halt.ts'
import { type ReconcileState, withTimes } from '../status.ts'
import { type ApplyDeps, applyImage } from './apply-image.ts'
import { decideDeploy, decideRollout } from './decide-deploy.ts'

export type DeployDeps = ApplyDeps & { readonly clock: Clock }
type Run = { readonly deps: DeployDeps; readonly facts: Facts }
type Deployed = { readonly state: ReconcileState; readonly halted?: Halt }

export async function deployImage(
  { deps, facts }: Run,
  { state, ...made }: { readonly state: ReconcileState } & BuiltImage,
): Promise<Deployed> {
  const { image } = made
  const { phases, rebase } = state.status
  const action = decideDeploy(facts, { ...made, isRebased: rebase?.image === image })
  if (action.kind === 'halt') return { state, halted: action.halt }
  const application = action.kind === 'keep' ? action.application : await applyImage(deps, action.desired)
  if (!application) return { state, halted: applicationNotFound('Deployed', facts.remoteSync.spec.application) }
  const before = action.kind === 'keep' ? phases?.deployedAt : undefined
  const now = deps.clock.now()
  const deployed = withTimes(state, { deployedAt: before ?? now.toISOString() })
  const rollout = decideRollout(application, image, now)
  if (rollout.halted) return { state: deployed, halted: rollout.halted }
  return { state: withTimes(deployed, { availableAt: rollout.availableAt }) }
}
