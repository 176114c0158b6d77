// Brings one Application's objects to what its chart renders. Only this file and apply-objects.ts write to the cluster.
// Order: inventory into the status where a new object could not be found by its owner, then new and changed objects, then prune, then
// status. A crash at any point leaks nothing, and whatever fails, the objects of the running version stay and keep serving.
import { type Application, applicationReasons, application as applications } from '../../api/apps/application.ts'
import { type Deployment, deployments } from '../../api/builtin/index.ts'
import type { KubeObject } from '../../api/resource.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { KubeError } from '../../kube/client/errors.ts'
import { done, type Outcome, type ReconcileContext, requeueAfter } from '../../kube/controller/controller.ts'
import type { Clock } from '../../lib/clock.ts'
import type { StatusWriter } from '../status-writer.ts'
import { decide } from './decide.ts'
import type { Manifest } from './desired.ts'
import { type ApplicationCaches, type Facts, gather, isFoundByOwner } from './gather.ts'
import { hostsOf, type IngressAddress, urlOf } from './hosts.ts'
import { applyObjects, prune } from './objects/apply-objects.ts'
import { entriesOf, entryText, type InventoryEntry, mostEntries, mustBeNamedFirst, obsolete, union } from './objects/inventory.ts'
import type { ManifestSource } from './objects/manifest-source.ts'
import { judgeRollout } from './rollout/rollout.ts'
import { nextStatus, type Progress } from './status.ts'

export type ApplicationDeps = {
  readonly client: Pick<KubeClient, 'get' | 'apply' | 'delete'>
  readonly caches: ApplicationCaches
  readonly status: StatusWriter<Application>
  readonly manifests: ManifestSource
  readonly clock: Clock
  readonly ingress: IngressAddress
  readonly platformNamespace: string
}

/** What the cluster refused may be granted later (a quota that frees up): tried again at this pace. */
const refusedRetryMilliseconds = 60_000

type Step = {
  readonly progress: Progress
  readonly inventory: readonly InventoryEntry[]
  /** What the server answered in this run: newer than the caches. */
  readonly live: ReadonlyMap<string, KubeObject>
}

/** The status must name an object before it is made. Everything else in it stays as it was. */
function recordInventory(
  deps: ApplicationDeps,
  application: Application,
  inventory: readonly InventoryEntry[],
): Promise<Application> {
  return deps.status.write(application, { ...application.status, inventory: [...inventory] })
}

/**
 * The cache may be behind, after a restart by much: what it says of the past may make objects, but must not change or delete living ones.
 * @throws KubeError 409, so that the key is tried again, when the Application has another spec by now
 */
async function mustBeCurrent(deps: ApplicationDeps, application: Application): Promise<void> {
  const { name, namespace = '', uid, generation } = application.metadata
  const live = await deps.client.get(applications, { namespace, name })
  if (live?.metadata.uid === uid && live?.metadata.generation === generation) return
  const message = `Application ${namespace}/${name}: the cache is behind the API server`
  throw new KubeError(message, { status: 409, reason: 'Conflict' })
}

async function applyManifests(
  deps: ApplicationDeps,
  facts: Facts,
  manifests: readonly Manifest[],
): Promise<Step & { application: Application }> {
  const { present } = facts
  const wanted = entriesOf(manifests)
  const everything = union(present, wanted)
  if (everything.length > mostEntries) {
    const message = `the Application would own more than ${mostEntries} objects while it changes: render fewer, or mend what refused the change before`
    const progress: Progress = { kind: 'refused', reason: applicationReasons.chartFailed, message }
    return { application: facts.application, progress, inventory: present, live: new Map() }
  }
  const application = mustBeNamedFirst(present, wanted, isFoundByOwner)
    ? await recordInventory(deps, facts.application, everything)
    : facts.application
  let current: Promise<void> | undefined
  const mayChange = (): Promise<void> => {
    current ??= mustBeCurrent(deps, application)
    return current
  }
  const before = new Set(present.map(entryText))
  const known = { cached: facts.cached, isNew: (entry: InventoryEntry) => !before.has(entryText(entry)) }
  const outcome = await applyObjects(deps.client, application, manifests, known, mayChange)
  if (outcome.kind === 'refused') {
    const { reason, message } = outcome
    return { application, progress: { kind: 'refused', reason, message }, inventory: everything, live: new Map() }
  }
  await prune(deps.client, application, obsolete(everything, wanted), mayChange)
  const [host] = manifests.some(manifest => manifest.kind === 'Ingress') ? hostsOf(application, deps.ingress) : []
  const url = host === undefined ? undefined : urlOf(host, deps.ingress)
  return { application, progress: { kind: 'applied', url, changed: outcome.changed }, inventory: wanted, live: outcome.live }
}

async function advance(deps: ApplicationDeps, facts: Facts): Promise<Step & { application: Application }> {
  const { application } = facts
  const refused = (reason: string, message: string): Step & { application: Application } => ({
    application,
    progress: { kind: 'refused', reason, message },
    inventory: facts.present,
    live: new Map(),
  })
  const decision = decide(facts, deps.ingress)
  if (decision.kind === 'refused') return refused(decision.reason, decision.message)
  const desired = await deps.manifests.of(application, decision)
  if (desired.kind === 'refused') return refused(desired.reason, `ApplicationChart ${application.spec.chart}: ${desired.message}`)
  return applyManifests(deps, facts, desired.manifests)
}

function isDeployment(object: KubeObject): object is Deployment {
  return object.apiVersion === deployments.apiVersion && object.kind === deployments.kind
}

/** The Deployments of the inventory: what this run's answers say, else the cache. */
function deploymentsOf(facts: Facts, step: Step): readonly (Deployment | undefined)[] {
  const entries = step.inventory.filter(entry => entry.apiVersion === deployments.apiVersion && entry.kind === deployments.kind)
  const found = entries.map(entry => {
    const answered = step.live.get(entryText(entry))
    return answered && isDeployment(answered) ? answered : facts.deployment(entry.name)
  })
  // After a refusal the inventory also names what was never made.
  const some = found.filter(deployment => deployment !== undefined)
  return step.progress.kind === 'refused' && some.length > 0 ? some : found
}

export async function reconcileApplication(deps: ApplicationDeps, context: ReconcileContext): Promise<Outcome> {
  const facts = gather(deps.caches, deps.platformNamespace, context.key, deps.status.latest)
  // Owner references let the garbage collector delete what a deleted Application had.
  if (!facts || facts.application.metadata.deletionTimestamp !== undefined) return done
  const step = await advance(deps, facts)
  const rollout = judgeRollout(deploymentsOf(facts, step), facts.pods)
  const { progress, inventory, application } = step
  await deps.status.write(application, nextStatus(application, { progress, inventory, rollout }, deps.clock.now()))
  const refusedByCluster = progress.kind === 'refused' && progress.reason === applicationReasons.refusedByCluster
  return refusedByCluster ? requeueAfter(refusedRetryMilliseconds) : done
}
