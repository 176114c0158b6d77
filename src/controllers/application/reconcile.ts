// Brings one Application's objects to what its chart renders for the release that is to run. This file writes the status;
// objects/apply-objects.ts writes the objects, releases/write-releases.ts Releases and release jobs, domains/claim-domains.ts
// DomainClaims. Order: the Release and its job, the inventory into the status where a new object could not be found by its
// owner, then new and changed objects, then prune, then the status. A crash at any point leaks nothing, and whatever fails,
// the running version keeps serving.
import { type Application, applicationReasons } from '../../api/apps/application.ts'
import type { Release } from '../../api/apps/release.ts'
import { type Deployment, deployments, horizontalPodAutoscalers, ingresses } from '../../api/builtin/index.ts'
import { labels } from '../../api/names.ts'
import type { KubeObject, ResourceType } from '../../api/resource.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { done, type Outcome, type ReconcileContext, requeueAfter } from '../../kube/controller/controller.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Refusal } from '../../policy/check.ts'
import { requeueAfterSoonest } from '../kit/soonest.ts'
import type { StatusWriter } from '../kit/status-writer.ts'
import { type ChangePace, changedInputs } from './change-pace.ts'
import { decide } from './decide.ts'
import type { Manifest } from './desired.ts'
import { claimDomains } from './domains/claim-domains.ts'
import type { DomainProofs } from './domains/domain-proofs.ts'
import { redirectingCondition } from './domains/redirects.ts'
import { type Facts, factsOf, type GatherDeps, gather, isFoundByOwner } from './gather.ts'
import { hostsOf, hostsOfIngress, isLost, urlOf } from './hosts.ts'
import { followedStatus } from './image/followed-tag.ts'
import { foundIn, runningIn } from './image/processes.ts'
import { liveApplication } from './live-application.ts'
import { applyObjects, plantedClaim, prune, type Target } from './objects/apply-objects.ts'
import {
  entriesOf,
  entryOf,
  entryText,
  type InventoryEntry,
  mostEntries,
  mustBeNamedFirst,
  obsolete,
  union,
} from './objects/inventory.ts'
import type { ManifestSource } from './objects/manifest-source.ts'
import { keepReleases } from './releases/keep-releases.ts'
import { type Prepared, preparePinned, prepareRelease, type ReleaseDeps } from './releases/prepare-release.ts'
import type { ReleaseObservation } from './releases/release-status.ts'
import { autoscalingCondition } from './rollout/autoscaling.ts'
import { withDelay } from './rollout/observation.ts'
import { type Refused, reportOf } from './rollout/report.ts'
import { evaluateRollout, type Rollout } from './rollout/rollout.ts'
import { rolloutRecord } from './rollout/rollout-record.ts'
import { withUnanswered } from './rollout/unanswered.ts'
import { type ApplicationStatus, nextStatus, type Progress } from './status.ts'

export type ApplicationDeps = GatherDeps &
  Omit<ReleaseDeps, 'live'> & {
    readonly client: Pick<KubeClient, 'get' | 'create' | 'apply' | 'applyStatus' | 'delete'>
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

/** A registry that did not answer is asked again after this time. */
const unreadableRetryMilliseconds = 10_000

/** How far a reconcile got. */
type Step = {
  /** Of the release that runs. */
  readonly facts: Facts
  /** As its status was last written. */
  readonly application: Application
  readonly progress: Progress
  readonly inventory: readonly InventoryEntry[]
  /** The objects as the server answered them in this run, by `entryText`: newer than the caches. Empty after a refusal. */
  readonly live: ReadonlyMap<string, KubeObject>
  /** Absent when nothing was decided about releases. */
  readonly observed?: ReleaseObservation
}

function refusedStep(facts: Facts, refusal: Refused, inventory = facts.present): Step {
  const { application } = facts
  return { facts, application, progress: { ...refusal, kind: 'refused' }, inventory, live: new Map() }
}

/** What is known about the release that is applied, and about its job. */
type Observed = Pick<ReleaseObservation, 'runs' | 'job'>

/**
 * What must be in the status before the objects change: the inventory, where a new object could not be found by its owner, and when the rollout of
 * another release began, because pods are judged by whether they are younger, with the end of
 * the release job before it. Undefined when the status has it.
 */
function intentOf(
  { application, present }: Facts,
  { wanted, observed, now }: { readonly wanted: readonly InventoryEntry[]; readonly observed: Observed; readonly now: Date },
): Partial<ApplicationStatus> | undefined {
  const { status } = application
  const { runs, job } = observed
  const inventory = mustBeNamedFirst(present, wanted, isFoundByOwner) ? { inventory: [...union(present, wanted)] } : undefined
  const replaces =
    runs !== undefined && status?.release !== undefined && status.release !== runs && status.rollout?.release !== runs
  const rollout = replaces ? { rollout: rolloutRecord(status, runs, now), ...(job ? { releaseJob: job } : {}) } : undefined
  return inventory || rollout ? { ...inventory, ...rollout } : undefined
}

async function applyManifests(
  deps: RunDeps,
  before: Facts,
  { manifests, observed }: { readonly manifests: readonly Manifest[]; readonly observed: Observed },
): Promise<Step> {
  const { present, children, ingress } = before
  const wanted = entriesOf(manifests)
  const everything = union(present, wanted)
  if (everything.length > mostEntries) {
    const message = `the Application would own more than ${mostEntries} objects while it changes: render fewer, or fix what refused the change before`
    return refusedStep(before, { reason: applicationReasons.chartFailed, message })
  }
  const planted = plantedClaim(manifests, before)
  if (planted) return refusedStep(before, { ...planted, whileApplying: true })
  const intent = intentOf(before, { wanted, observed, now: deps.clock.now() })
  const application = intent
    ? await deps.status.write(before.application, { ...before.application.status, ...intent })
    : before.application
  const target: Target = { client: deps.client, application, assertCurrent: deps.live }
  const outcome = await applyObjects(target, manifests, { children, named: new Set(present.map(entryText)) })
  if (outcome.kind === 'refused') return refusedStep({ ...before, application }, { ...outcome, whileApplying: true }, everything)
  await prune(target, obsolete(everything, wanted))
  const [host] = manifests.some(manifest => manifest.kind === 'Ingress') ? hostsOf(application, ingress) : []
  const url = host === undefined ? undefined : urlOf(host, ingress, application.spec.tls !== undefined)
  const progress = { kind: 'applied', url, changed: outcome.changed } as const
  return { facts: before, application, progress, inventory: wanted, live: outcome.live }
}

/** Renders what the Application says and applies it. */
async function applyApplication(deps: RunDeps, facts: Facts, observed: Observed): Promise<Step> {
  const { application } = facts
  const decision = decide(facts)
  if (decision.kind === 'refused') {
    await withdrawLostHosts(deps, facts)
    return refusedStep(facts, decision)
  }
  const desired = await deps.manifests.of(application, decision)
  if (desired.kind === 'wanted') return applyManifests(deps, facts, { manifests: desired.manifests, observed })
  return refusedStep(facts, chartRefusal(application, desired))
}

function chartRefusal({ spec }: Application, { reason, message }: Refusal): Refusal {
  return { reason, message: `ApplicationChart ${spec.chart}: ${message}` }
}

/** Which release is to run. */
async function chooseRelease(deps: RunDeps, facts: Facts): Promise<Prepared> {
  const { application } = facts
  const { pinnedRelease } = application.spec
  if (pinnedRelease !== undefined) return preparePinned(deps, facts, pinnedRelease)
  const decision = decide(facts)
  if (decision.kind === 'refused') return decision
  return prepareRelease(deps, facts, async () => {
    const desired = await deps.manifests.of(application, decision)
    return desired.kind === 'wanted' ? desired : { kind: 'refused', ...chartRefusal(application, desired) }
  })
}

/** As far as the facts, the releases, the chart and the cluster allow. `requeueAfterMilliseconds`: the image of an earlier release is being read. */
async function advance(deps: RunDeps, facts: Facts): Promise<Step | { readonly requeueAfterMilliseconds: number }> {
  const prepared = await chooseRelease(deps, facts)
  switch (prepared.kind) {
    case 'refused':
      await withdrawLostHosts(deps, facts)
      return refusedStep(facts, prepared)
    case 'nothing':
      return { ...refusedStep(facts, prepared.hold), observed: prepared.observed }
    case 'run': {
      const { application, observed } = prepared
      const running = application === facts.application ? facts : factsOf(deps, application)
      if (running.contents.kind === 'pending') return running.contents
      return { ...(await applyApplication(deps, running, observed)), observed }
    }
  }
}

function isOf<T extends KubeObject>({ apiVersion, kind }: ResourceType<T>, object: KubeObject | undefined): object is T {
  return object?.apiVersion === apiVersion && object.kind === kind
}

/** Deletes the Ingresses that serve a host which is another tenant's or the platform's by now. Everything else keeps running. */
async function withdrawLostHosts(deps: RunDeps, facts: Facts): Promise<void> {
  const { application } = facts
  const lost = [...facts.children.values()]
    .filter(child => isOf(ingresses, child))
    .filter(child => hostsOfIngress(child).some(host => isLost(facts, host)))
  await prune({ client: deps.client, application, assertCurrent: deps.live }, lost.map(entryOf))
}

/** The objects of a kind in the inventory: as answered in this run, else as cached; undefined for one that is in neither. */
function ofKind<T extends KubeObject>(
  type: ResourceType<T>,
  { children }: Facts,
  { inventory, live }: Step,
): readonly (T | undefined)[] {
  return inventory
    .filter(({ apiVersion, kind }) => apiVersion === type.apiVersion && kind === type.kind)
    .map(entry => live.get(entryText(entry)) ?? children.get(entryText(entry)))
    .map(object => (isOf(type, object) ? object : undefined))
}

function deploymentsOf(facts: Facts, step: Step): readonly (Deployment | undefined)[] {
  const found = ofKind(deployments, facts, step)
  // After a refusal the inventory also names Deployments that were never created.
  const existing = found.filter(deployment => deployment !== undefined)
  return step.progress.kind === 'refused' && existing.length > 0 ? existing : found
}

/** When to look again while a registry has not been answered yet for the first time, about the image or a followed tag; undefined when nothing is awaited. */
function pendingMilliseconds({ contents, followed }: Facts): number | undefined {
  if (contents.kind === 'pending') return contents.requeueAfterMilliseconds
  return followed?.digest === undefined && followed?.problem === undefined ? followed?.requeueAfterMilliseconds : undefined
}

/** Idempotent. A deleted Application needs nothing: the garbage collector follows the owner references of its objects. */
export async function reconcileApplication(deps: ApplicationDeps, { key }: Pick<ReconcileContext, 'key'>): Promise<Outcome> {
  const known = gather(deps, key)
  if (!known || known.application.metadata.deletionTimestamp !== undefined) return done
  const { followed } = known
  const wait = deps.changePace.wait(known.application, changedInputs(known))
  if (wait > 0) return requeueAfter(wait)
  const unread = pendingMilliseconds(known)
  if (unread !== undefined) return requeueAfter(unread)
  const before = decide(known)
  const unproven = before.kind === 'refused' && before.reason === applicationReasons.domainNotProven
  const { facts, requeueAfterMilliseconds, pending } = unproven
    ? await claimDomains(deps, known)
    : { facts: known, requeueAfterMilliseconds: undefined, pending: false }
  // A first look-up ends within seconds: until then nothing is known that would be worth reporting.
  if (pending && requeueAfterMilliseconds !== undefined) return requeueAfter(requeueAfterMilliseconds)
  const step = await advance({ ...deps, live: liveApplication(deps.client, facts.application) }, facts)
  if ('requeueAfterMilliseconds' in step) return requeueAfter(step.requeueAfterMilliseconds)
  const evaluated = evaluateRollout(deploymentsOf(facts, step), facts.pods)
  const shown = { pods: facts.pods, processes: runningIn(facts) }
  const { rollout, requeueAfterMilliseconds: unansweredFor } = withUnanswered(evaluated, shown, deps.clock.now())
  const verdictFor = await report(deps, facts, step, rollout)
  const unreadable = facts.contents.kind === 'unreadable' && !facts.contents.permanent
  return requeueAfterSoonest(
    followed?.requeueAfterMilliseconds,
    requeueAfterMilliseconds,
    verdictFor,
    unansweredFor,
    unreadable ? unreadableRetryMilliseconds : undefined,
    step.progress.kind === 'refused' ? step.progress.requeueAfterMilliseconds : undefined,
  )
}

/** Writes what was found out; resolves to the time after which the rollout must be judged again. */
async function report(deps: ApplicationDeps, facts: Facts, step: Step, rollout: Rollout): Promise<number | undefined> {
  const { application, progress, inventory, observed } = step
  const now = deps.clock.now()
  const found = reportOf(
    application,
    { observed, progress, rollout, pods: facts.pods, replicas: replicasOfWeb(facts, step) },
    now,
  )
  const autoscaling = autoscalingCondition(ofKind(horizontalPodAutoscalers, facts, step))
  const following = followedStatus(application, facts.followed, now)
  const present = inventory.filter(({ kind }) => kind === ingresses.kind).map(({ name }) => name)
  const redirecting = redirectingCondition(application, facts.redirectAnnotations, {
    applied: progress.kind === 'applied',
    present,
  })
  const observation = {
    progress,
    inventory,
    rollout: withDelay(rollout, found.fields.rollout),
    releases: found,
    autoscaling,
    redirecting,
    following,
    ...foundIn(step.facts),
  }
  const status = nextStatus(application, observation, now)
  await deps.status.write(application, status)
  await keepReleases(deps, facts, status)
  return found.requeueAfterMilliseconds
}

/** Undefined when there is no process `web`. */
function replicasOfWeb(facts: Facts, step: Step): number | undefined {
  const web = deploymentsOf(facts, step).find(deployment => deployment?.metadata.labels?.[labels.process] === 'web')
  return web && (web.status?.updatedReplicas ?? 0)
}
