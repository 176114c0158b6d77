// The last stage of a RemoteSync. Deployed: image and commit are set on its Applications. Ready: they have rolled them out. The
// others get the image when the release job of the first has succeeded: its migrations run once, before any new code but itself.
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
/** `isWritten`: it had another image before. `frees`: its release job does not keep others waiting. */
type Placed = { readonly standing: Standing; readonly isWritten: boolean; readonly frees: boolean }
type Deployed = { readonly state: ReconcileState; readonly halted?: Halt }

/** `isItsTurn`: otherwise one that has another image waits. */
async function place(deps: DeployDeps, target: Target, made: BuiltImage, isItsTurn: boolean): Promise<Placed> {
  const { name, field } = target
  const action = decideDeploy(target, made)
  const without = (standing: Standing): Placed => ({ standing, isWritten: false, frees: false })
  if (action.kind === 'halt') return without({ name, kind: 'halted', halted: action.halt })
  const isWritten = action.kind === 'apply'
  if (isWritten && !isItsTurn) return without({ name, kind: 'waits' })
  const application = isWritten ? await applyImage(deps, action.application, made) : action.application
  if (!application) return without({ name, kind: 'halted', halted: applicationNotFound('Deployed', name, field) })
  const rollout = decideRollout(application, made.image, deps.clock.now())
  return { standing: { name, kind: 'set', rollout }, isWritten, frees: !awaitsJob(application, made.image) }
}

/**
 * The first, then the others, unless it halts. Of these, one that the API server refuses keeps none from its image.
 * @throws the first refusal, after all
 */
async function placeAll(deps: DeployDeps, targets: readonly Target[], made: BuiltImage): Promise<readonly Placed[]> {
  const placed: Placed[] = []
  const refusals: unknown[] = []
  for (const target of targets) {
    const [first] = placed
    if (first?.standing.kind === 'halted') break
    try {
      placed.push(await place(deps, target, made, first?.frees ?? true))
    } catch (error) {
      if (first === undefined) throw error
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
  const all = await placeAll(deps, targetsOf(facts), made)
  const standings = all.map(({ standing }) => standing)
  const [first] = standings
  if (first?.kind === 'halted') return { state, halted: first.halted }
  const held = { ...state, status: withApplications(state.status, facts.remoteSync.spec, standings) }
  const now = deps.clock.now()
  const before = all.some(({ isWritten }) => isWritten) ? undefined : state.status.phases?.deployedAt
  const deployedAt = before ?? now.toISOString()
  const deployed = isSetOnAll(standings) ? withTimes(held, { deployedAt }) : held
  const halted = worstHalt(standings)
  if (halted) return { state: deployed, halted }
  return { state: withTimes(deployed, { availableAt: availableAt(standings, now) }) }
}
