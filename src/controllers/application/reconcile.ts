// Brings one Application to what its spec asks for, in three stages: release (which one is to run), objects (those that its chart
// renders) and rollout (what became of it). Facts are gathered and decided about first; the status is reported here, once.
// Order: ServiceBindings, DomainClaims, the Release and its job, what the status must name beforehand, new and changed objects,
// prune, the status, then ServiceBindings that nothing uses any more go, and it is said which credentials all pods have.
// A crash at any point leaks nothing, and whatever fails, the running version keeps serving.
import type { Application } from '../../api/apps/application.ts'
import type { Release } from '../../api/apps/release.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { done, type Outcome, type ReconcileContext, requeueAfter } from '../../kube/controller/controller.ts'
import type { Clock } from '../../lib/clock.ts'
import { defined } from '../../lib/json/defined.ts'
import { once } from '../../lib/limits/once.ts'
import { firstRefusal } from '../../policy/check.ts'
import { requeueAfterSoonest } from '../kit/soonest.ts'
import type { StatusWriter } from '../kit/status-writer.ts'
import { type ChangePace, changedInputs } from './change-pace.ts'
import { type Decision, decide } from './decide.ts'
import { claimDomains } from './domains/claim-domains.ts'
import type { DomainProofs } from './domains/domain-proofs.ts'
import { hostChecks } from './domains/hosts.ts'
import type { Facts } from './facts.ts'
import { factsOf, type GatherDeps, gather } from './gather.ts'
import { untilFirstAnswer, untilNextAnswer } from './image/image-facts.ts'
import { runningIn } from './image/processes.ts'
import { liveApplication } from './live-application.ts'
import { applyManifests, notApplied } from './objects/apply-manifests.ts'
import { withdrawLostHosts } from './objects/withdraw-lost-hosts.ts'
import { observe, type Step } from './observe.ts'
import { keepReleases } from './releases/keep-releases.ts'
import { type Prepared, preparePinned, prepareRelease, type ReleaseDeps, type RenderSpec } from './releases/prepare-release.ts'
import type { ManifestSource } from './rendering/manifest-source.ts'
import { readFailedChecks } from './rollout/read-failed-checks.ts'
import { unreadyIn } from './rollout/unanswered.ts'
import { ensureBindings, removeBindings } from './services/owned-bindings.ts'
import { tellRolledOut } from './services/rolled-out.ts'

export type ApplicationDeps = GatherDeps &
  Omit<ReleaseDeps, 'live'> & {
    readonly client: Pick<KubeClient, 'get' | 'list' | 'snapshot' | 'create' | 'apply' | 'applyStatus' | 'delete'>
    readonly status: StatusWriter<Application>
    /** Of Releases. */
    readonly outcomes: StatusWriter<Release>
    readonly manifests: ManifestSource
    readonly proofs: DomainProofs
    readonly changePace: ChangePace
    readonly clock: Clock
  }

/** Those of one reconcile. */
type RunDeps = ApplicationDeps & Pick<ReleaseDeps, 'live'>

/** Nothing is known yet that would be worth reporting. */
type Waiting = { readonly kind: 'pending'; readonly requeueAfterMilliseconds: number }

/** A spec, and what was decided about it. `render`: the first call renders, later ones share what it answered. */
type Decided = { readonly facts: Facts; readonly decision: Decision; readonly render: RenderSpec }

function decided({ manifests }: RunDeps, facts: Facts, decision: Decision): Decided {
  const render: RenderSpec = async () => (decision.kind === 'refused' ? decision : manifests.of(facts.application, decision))
  return { facts, decision, render: once(render) }
}

/** Before anything that costs: the pace of changes, and the first answer about the image. */
function waitBefore({ changePace }: ApplicationDeps, facts: Facts): number | undefined {
  const paced = changePace.wait(facts.application, changedInputs(facts))
  return paced > 0 ? paced : untilFirstAnswer(facts)
}

/**
 * Decides about the spec. Where only proofs of hosts are missing, claims what is proved by now; a first look-up ends within
 * seconds.
 */
async function decideSpec(deps: RunDeps, known: Facts): Promise<Waiting | (Decided & { readonly wait?: number | undefined })> {
  const decision = decide(known)
  if (decision.kind === 'render' || decision.whenProven === undefined) return decided(deps, known, decision)
  const { claims, pending, requeueAfterMilliseconds: wait } = await claimDomains(deps, known)
  if (pending && wait !== undefined) return { kind: 'pending', requeueAfterMilliseconds: wait }
  const facts = { ...known, claims }
  const refusal = firstRefusal(hostChecks, facts)
  const proven = refusal ? { kind: 'refused' as const, ...refusal } : { kind: 'render' as const, ...decision.whenProven }
  return { ...decided(deps, facts, proven), wait }
}

/** Release: which one is to run. A pin runs one without regard to the rest of the spec. */
async function chooseRelease(deps: RunDeps, { facts, decision, render }: Decided): Promise<Prepared> {
  const { pinnedRelease } = facts.application.spec
  if (pinnedRelease !== undefined) return preparePinned(deps, facts, pinnedRelease)
  return decision.kind === 'refused' ? decision : prepareRelease(deps, facts, render)
}

/** Release and objects, as far as the decision, the release job, the chart and the cluster allow. */
async function advance(deps: RunDeps, spec: Decided): Promise<Waiting | Step> {
  const prepared = await chooseRelease(deps, spec)
  if (prepared.kind === 'refused')
    return { ...notApplied(spec.facts, prepared), facts: spec.facts, ...defined({ observed: prepared.observed }) }
  const { application, observed } = prepared
  const facts = application === spec.facts.application ? spec.facts : await ensureBindings(deps, factsOf(deps, application))
  // The image of an earlier release is being read.
  if (facts.contents.kind === 'pending') return facts.contents
  const { render } = facts === spec.facts ? spec : decided(deps, facts, decide(facts))
  const rendered = await render()
  const { runs, job } = observed
  const applied =
    rendered.kind === 'refused'
      ? notApplied(facts, rendered)
      : await applyManifests(deps, facts, { manifests: rendered.manifests, runs, job })
  return { ...applied, facts, observed }
}

/** Idempotent. A deleted Application needs nothing: the garbage collector follows the owner references of its objects. */
export async function reconcileApplication(deps: ApplicationDeps, { key }: Pick<ReconcileContext, 'key'>): Promise<Outcome> {
  const known = gather(deps, key)
  if (!known || known.application.metadata.deletionTimestamp !== undefined) return done
  const before = waitBefore(deps, known)
  if (before !== undefined) return requeueAfter(before)
  const run: RunDeps = { ...deps, live: liveApplication(deps.client, known.application) }
  const spec = await decideSpec(run, await ensureBindings(run, known))
  if ('kind' in spec) return requeueAfter(spec.requeueAfterMilliseconds)
  const step = await advance(run, spec)
  if ('kind' in step) return requeueAfter(step.requeueAfterMilliseconds)
  if (step.progress.kind === 'refused') await withdrawLostHosts(run, step.facts)
  const { facts } = spec
  const now = deps.clock.now()
  const failedChecks = await readFailedChecks(deps.client, unreadyIn(facts.pods, runningIn(facts), now))
  const { status, requeueAfterMilliseconds } = observe(facts, step, { now, failedChecks })
  const written = await deps.status.write(step.application, status)
  await removeBindings(deps, written, [facts, step.facts])
  const untilRolledOut = await tellRolledOut(deps, written, step.facts)
  await keepReleases(deps, facts, status)
  return requeueAfterSoonest(spec.wait, untilNextAnswer(facts), requeueAfterMilliseconds, untilRolledOut)
}
