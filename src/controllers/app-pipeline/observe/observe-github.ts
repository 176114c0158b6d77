// What GitHub says about the pull requests of an AppPipeline, as far as it answers. Without a complete list nothing is made or
// removed.
import type { KubeClient } from '../../../kube/client/client.ts'
import { uidOf } from '../../../kube/object/owner.ts'
import type { Refusal } from '../../kit/refusal.ts'
import { ensureOwnedGrant } from '../../kit/repository/ensure-owned-grant.ts'
import { type AccessDeps, accessOnce, ownedGrantName, planOwnedGrant } from '../../kit/repository/owned-grant.ts'
import { type Entry, withoutAnswer } from '../choose.ts'
import { decide, haltOf, mustList } from '../decide.ts'
import type { Facts } from '../gather.ts'
import type { KnownPullRequests, PullRequestMemory } from '../pull-requests/known.ts'
import { fetchDetails } from './fetch-details.ts'
import { listPullRequests } from './list-pull-requests.ts'
import type { AskDeps } from './open-repository.ts'

export type ObserveDeps = AccessDeps &
  AskDeps & {
    readonly client: Pick<KubeClient, 'create' | 'delete'>
    readonly memory: PullRequestMemory
    /** How long GitHub may go unasked when no webhook comes. */
    readonly sweepMilliseconds: number
    readonly fieldManager: string
  }

/** What the pull requests are, and what is to become of them. */
export type GitHubView = {
  readonly known: KnownPullRequests | undefined
  readonly halt: Refusal | undefined
  readonly grant: string | undefined
  readonly entries: readonly Entry[]
}

const actor = 'sekisho:app-pipeline'

/** Creates or replaces the owned grant. @throws KubeError and defects */
export async function observeGitHub(deps: ObserveDeps, facts: Facts, signal: AbortSignal): Promise<GitHubView> {
  const { pipeline, now } = facts
  const blind = { known: facts.known, entries: withoutAnswer(facts) }
  const refused = decide(facts)
  if (refused) return { ...blind, halt: refused, grant: undefined }
  const { client, fieldManager, memory } = deps
  const plan = planOwnedGrant(pipeline, facts.grant, now)
  const grant = ownedGrantName(pipeline)
  if (plan.kind !== 'use') {
    return { ...blind, halt: await ensureOwnedGrant(client, { owner: pipeline, plan, fieldManager }), grant }
  }
  const { app = '', installationId = 0 } = facts.installation?.spec ?? {}
  const asked = { access: accessOnce(deps, { owner: pipeline, grant: plan.grant, app, actor }), installationId, signal }
  const uid = uidOf(pipeline)
  try {
    const isFresh = facts.known !== undefined && !mustList(facts, deps.sweepMilliseconds)
    const listed = isFresh ? facts.known : await listPullRequests(deps, facts, asked)
    memory.set(uid, listed)
    const { known, choice, halt } = await fetchDetails(deps, { ...facts, known: listed }, asked)
    memory.set(uid, known)
    return { known, halt, grant, entries: choice.entries }
  } catch (error) {
    return { ...blind, halt: haltOf(error), grant }
  }
}
