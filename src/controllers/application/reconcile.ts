// Brings one Application's objects to what its chart renders. This file writes the status; objects/apply-objects.ts writes the objects;
// no other file here writes. Order: the inventory into the status where a new object could not be found by its owner, then new and changed
// objects, then prune, then the status. A crash at any point leaks nothing, and whatever fails, the running version keeps serving.
import { type Application, applicationReasons, application as applications } from '../../api/apps/application.ts'
import { type Deployment, deployments, type Ingress, ingresses } from '../../api/builtin/index.ts'
import type { KubeObject } from '../../api/resource.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { KubeError } from '../../kube/client/errors.ts'
import { done, type Outcome, type ReconcileContext, requeueAfter } from '../../kube/controller/controller.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Refusal } from '../../policy/check.ts'
import type { StatusWriter } from '../status-writer.ts'
import type { ChangePace } from './change-pace.ts'
import { decide } from './decide.ts'
import type { Manifest } from './desired.ts'
import { claimDomains } from './domains/claim-domains.ts'
import type { DomainProofs } from './domains/domain-proofs.ts'
import { type Facts, type GatherDeps, gather, isFoundByOwner } from './gather.ts'
import { hostsOf, hostsOfIngress, isLost, urlOf } from './hosts.ts'
import { applyObjects, prune, type Target } from './objects/apply-objects.ts'
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
import { evaluateRollout } from './rollout/rollout.ts'
import { nextStatus, type Progress } from './status.ts'

export type ApplicationDeps = GatherDeps & {
  readonly client: Pick<KubeClient, 'get' | 'create' | 'apply' | 'delete'>
  readonly status: StatusWriter<Application>
  readonly manifests: ManifestSource
  readonly proofs: DomainProofs
  readonly changePace: ChangePace
  readonly clock: Clock
}

/** What the cluster refuses today it may accept later, such as after a quota is raised: retried at this interval. */
const refusedRetryMilliseconds = 60_000

/** How far a reconcile got. */
type Step = {
  /** As its status was last written. */
  readonly application: Application
  readonly progress: Progress
  readonly inventory: readonly InventoryEntry[]
  /** The objects as the server answered them in this run, by `entryText`: newer than the caches. Empty after a refusal. */
  readonly live: ReadonlyMap<string, KubeObject>
}

function refusedStep({ application, present }: Facts, { reason, message }: Refusal, inventory = present): Step {
  return { application, progress: { kind: 'refused', reason, message }, inventory, live: new Map() }
}

/**
 * The cache can be behind the API server, after a restart by a lot: what an outdated Application says may create objects, but must not change
 * or delete existing ones.
 * @throws KubeError 409, so that the key is retried, when the Application has another spec by now
 */
async function assertCurrent({ client }: ApplicationDeps, application: Application): Promise<void> {
  const { name, namespace = '', uid, generation } = application.metadata
  const live = await client.get(applications, { namespace, name })
  if (live?.metadata.uid === uid && live?.metadata.generation === generation) return
  const message = `Application ${namespace}/${name}: the cache is behind the API server`
  throw new KubeError(message, { status: 409, reason: 'Conflict' })
}

async function applyManifests(deps: ApplicationDeps, before: Facts, manifests: readonly Manifest[]): Promise<Step> {
  const { present, children, ingress } = before
  const wanted = entriesOf(manifests)
  const everything = union(present, wanted)
  if (everything.length > mostEntries) {
    const message = `the Application would own more than ${mostEntries} objects while it changes: render fewer, or fix what refused the change before`
    return refusedStep(before, { reason: applicationReasons.chartFailed, message })
  }
  const application = mustBeNamedFirst(present, wanted, isFoundByOwner)
    ? await deps.status.write(before.application, { ...before.application.status, inventory: [...everything] })
    : before.application
  let current: Promise<void> | undefined
  const target: Target = {
    client: deps.client,
    application,
    assertCurrent() {
      current ??= assertCurrent(deps, application)
      return current
    },
  }
  const outcome = await applyObjects(target, manifests, { children, named: new Set(present.map(entryText)) })
  if (outcome.kind === 'refused') return refusedStep({ ...before, application }, outcome, everything)
  await prune(target, obsolete(everything, wanted))
  const [host] = manifests.some(manifest => manifest.kind === 'Ingress') ? hostsOf(application, ingress) : []
  const url = host === undefined ? undefined : urlOf(host, ingress)
  return { application, progress: { kind: 'applied', url, changed: outcome.changed }, inventory: wanted, live: outcome.live }
}

/** As far as the facts, the chart and the cluster allow. */
async function advance(deps: ApplicationDeps, facts: Facts): Promise<Step> {
  const { application } = facts
  const decision = decide(facts)
  if (decision.kind === 'refused') {
    await withdrawLostHosts(deps, facts)
    return refusedStep(facts, decision)
  }
  const desired = await deps.manifests.of(application, decision)
  if (desired.kind === 'wanted') return applyManifests(deps, facts, desired.manifests)
  const message = `ApplicationChart ${application.spec.chart}: ${desired.message}`
  return refusedStep(facts, { reason: desired.reason, message })
}

function isIngress(object: KubeObject): object is Ingress {
  return object.apiVersion === ingresses.apiVersion && object.kind === ingresses.kind
}

/** Deletes the Ingresses that serve a host which is another tenant's or the platform's by now. Everything else keeps running. */
async function withdrawLostHosts(deps: ApplicationDeps, facts: Facts): Promise<void> {
  const { application } = facts
  const lost = [...facts.children.values()]
    .filter(isIngress)
    .filter(child => hostsOfIngress(child).some(host => isLost(facts, host)))
  await prune({ client: deps.client, application, assertCurrent: () => assertCurrent(deps, application) }, lost.map(entryOf))
}

function isDeployment(object: KubeObject | undefined): object is Deployment {
  return object?.apiVersion === deployments.apiVersion && object.kind === deployments.kind
}

/** The Deployments of the inventory: as answered in this run, else as cached; undefined for one that is in neither. */
function deploymentsOf({ children }: Facts, { inventory, live, progress }: Step): readonly (Deployment | undefined)[] {
  const entries = inventory.filter(({ apiVersion, kind }) => apiVersion === deployments.apiVersion && kind === deployments.kind)
  const found = entries.map(entry => {
    const object = live.get(entryText(entry)) ?? children.get(entryText(entry))
    return isDeployment(object) ? object : undefined
  })
  // After a refusal the inventory also names Deployments that were never created.
  const existing = found.filter(deployment => deployment !== undefined)
  return progress.kind === 'refused' && existing.length > 0 ? existing : found
}

/** Idempotent. A deleted Application needs nothing: the garbage collector follows the owner references of its objects. */
export async function reconcileApplication(deps: ApplicationDeps, { key }: Pick<ReconcileContext, 'key'>): Promise<Outcome> {
  const known = gather(deps, key)
  if (!known || known.application.metadata.deletionTimestamp !== undefined) return done
  const wait = deps.changePace.wait(known.application)
  if (wait > 0) return requeueAfter(wait)
  const before = decide(known)
  const unproven = before.kind === 'refused' && before.reason === applicationReasons.domainNotProven
  const { facts, againMilliseconds, pending } = unproven
    ? await claimDomains(deps, known)
    : { facts: known, againMilliseconds: undefined, pending: false }
  // A first look-up ends within seconds: until then nothing is known that would be worth reporting.
  if (pending && againMilliseconds !== undefined) return requeueAfter(againMilliseconds)
  const step = await advance(deps, facts)
  const { progress, inventory, application } = step
  const rollout = evaluateRollout(deploymentsOf(facts, step), facts.pods)
  await deps.status.write(application, nextStatus(application, { progress, inventory, rollout }, deps.clock.now()))
  if (againMilliseconds !== undefined) return requeueAfter(againMilliseconds)
  const refusedByCluster = progress.kind === 'refused' && progress.reason === applicationReasons.refusedByCluster
  return refusedByCluster ? requeueAfter(refusedRetryMilliseconds) : done
}
