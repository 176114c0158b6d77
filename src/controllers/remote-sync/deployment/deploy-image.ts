// The last stage of a RemoteSync. Deployed: image and commit are set on its Applications. Ready: they have rolled them out. The
// others get the image when the release job of the first has succeeded: its migrations run once, before any new code but itself.
import type { Application } from '../../../api/apps/application.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { BuiltImage } from '../desired.ts'
import type { Facts } from '../gather.ts'
import { applicationNotFound, type Halt } from '../halt.ts'
import { type ReconcileState, withTimes } from '../status.ts'
import { type ApplyDeps, applyImage } from './apply-image.ts'
import { availableAt, isSetOnAll, type Standing, withApplications, worstHalt } from './conclude.ts'
import { awaitsJob, decideDeploy, decideRollout, type Target, targetsOf } from './decide-deploy.ts'

export type DeployDeps = ApplyDeps & { readonly clock: Clock }
type Run = { readonly deps: DeployDeps; readonly facts: Facts }
/** `application`: with the image. `isWritten`: it had another one before. */
type Placed = { readonly standing: Standing; readonly application?: Application; readonly isWritten?: boolean }
type Deployed = { readonly state: ReconcileState; readonly halted?: Halt }

/** `isItsTurn`: otherwise one that has another image waits. */
async function place(deps: DeployDeps, target: Target, made: BuiltImage, isItsTurn: boolean): Promise<Placed> {
  const { name, field } = target
  const action = decideDeploy(target, made)
  if (action.kind === 'halt') return { standing: { name, kind: 'halted', halted: action.halt } }
  if (action.kind === 'apply' && !isItsTurn) return { standing: { name, kind: 'waits' } }
  const application = action.kind === 'keep' ? action.application : await applyImage(deps, action.desired)
  if (!application) return { standing: { name, kind: 'halted', halted: applicationNotFound('Deployed', name, field) } }
  const standing: Standing = { name, kind: 'set', rollout: decideRollout(application, made.image, deps.clock.now()) }
  return { standing, application, isWritten: action.kind === 'apply' }
}

/** One that the API server refuses keeps none of the others from its image. @throws the first refusal, after all */
async function placeOthers(
  deps: DeployDeps,
  targets: readonly Target[],
  made: BuiltImage,
  isTheirTurn: boolean,
): Promise<readonly Placed[]> {
  const placed: Placed[] = []
  const refusals: unknown[] = []
  for (const target of targets) {
    try {
      placed.push(await place(deps, target, made, isTheirTurn))
    } catch (error) {
      refusals.push(error)
    }
  }
  if (refusals.length > 0) throw refusals[0]
  return placed
}

export async function deployImage(
  { deps, facts }: Run,
  { state, ...given }: { readonly state: ReconcileState } & BuiltImage,
): Promise<Deployed> {
  const { image } = given
  const made = { ...given, isRebased: state.status.rebase?.image === image }
  const targets = targetsOf(facts)
  const first = await place(deps, targets.first, made, true)
  if (first.standing.kind === 'halted') return { state, halted: first.standing.halted }
  const isTheirTurn = first.application !== undefined && !awaitsJob(first.application, image)
  const all = [first, ...(await placeOthers(deps, targets.others, made, isTheirTurn))]
  const standings = all.map(({ standing }) => standing)
  const held = { ...state, status: withApplications(state.status, facts.remoteSync.spec, standings) }
  const now = deps.clock.now()
  const before = all.some(({ isWritten }) => isWritten) ? undefined : state.status.phases?.deployedAt
  const deployedAt = before ?? now.toISOString()
  const deployed = isSetOnAll(standings) ? withTimes(held, { deployedAt }) : held
  const halted = worstHalt(standings)
  if (halted) return { state: deployed, halted }
  return { state: withTimes(deployed, { availableAt: availableAt(standings, now) }) }
}
