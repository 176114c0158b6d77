// Brings the objects of an Application to the manifests of the release that is to run. Order: what the status must say
// beforehand, new and changed objects, then prune. A crash in between leaks nothing: what is not in the inventory is found by
// its owner.
import { type Application, applicationReasons } from '../../../api/apps/application.ts'
import type { KubeObject } from '../../../api/resource.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { Refusal } from '../../kit/refusal.ts'
import type { StatusWriter } from '../../kit/status-writer.ts'
import { isFoundByOwner } from '../caches.ts'
import { type HostFacts, hostsOf, urlOf } from '../domains/hosts.ts'
import type { Manifest } from '../rendering/desired.ts'
import { rolloutRecord } from '../rollout/rollout-times.ts'
import { applyObjects, type ObjectFacts, plantedClaim, prune, type Target } from './apply-objects.ts'
import { entriesOf, entryText, type InventoryEntry, maxEntries, mustBeNamedFirst, obsolete, union } from './inventory.ts'

type Status = NonNullable<Application['status']>

/** `whileApplying`: by the cluster, or by an object that it has, which is a problem of the release; else one of the spec. */
type Refused = Refusal & { readonly whileApplying?: true }

/** How far one reconcile got. `applied`: the cluster has every object. */
export type Progress =
  | ({ readonly kind: 'refused' } & Refused)
  | { readonly kind: 'applied'; readonly url: string | undefined; readonly changed: boolean }

export type Applied = {
  /** As its status was last written. */
  readonly application: Application
  readonly progress: Progress
  readonly inventory: readonly InventoryEntry[]
  /** The objects as the server answered them in this run, by `entryText`: newer than the caches. Empty after a refusal. */
  readonly live: ReadonlyMap<string, KubeObject>
}

type ApplyDeps = Pick<Target, 'client'> & {
  readonly live: Target['assertCurrent']
  readonly status: Pick<StatusWriter<Application>, 'write'>
  readonly clock: Clock
}

type Facts = ObjectFacts & Pick<HostFacts, 'application' | 'ingress'>

/** The manifests, the release that rendered them, and its job. */
export type Wanted = {
  readonly manifests: readonly Manifest[]
  readonly runs: number | undefined
  readonly job: Status['releaseJob']
}

/** Nothing was applied; `inventory`: what the Application has nevertheless. */
export function notApplied(facts: Pick<Facts, 'application' | 'present'>, refusal: Refused, inventory = facts.present): Applied {
  return { application: facts.application, progress: { ...refusal, kind: 'refused' }, inventory, live: new Map() }
}

/**
 * What the status must say before the objects change, undefined when it does: the inventory, where a new object could not be
 * found by its owner, and, when another release begins, the start of its rollout, because pods are judged by their age, with
 * its job.
 */
function intentOf({ application, present }: Facts, { manifests, runs, job }: Wanted, now: Date): Partial<Status> | undefined {
  const { status } = application
  const wanted = entriesOf(manifests)
  const inventory = mustBeNamedFirst(present, wanted, isFoundByOwner) ? { inventory: [...union(present, wanted)] } : undefined
  const replaces =
    runs !== undefined && status?.release !== undefined && status.release !== runs && status.rollout?.release !== runs
  const rollout = replaces ? { rollout: rolloutRecord(status, runs, now), ...(job ? { releaseJob: job } : {}) } : undefined
  return inventory || rollout ? { ...inventory, ...rollout } : undefined
}

/** Why none of the manifests may be applied; undefined when they may. */
function refusalOf(facts: Facts, manifests: readonly Manifest[]): Refused | undefined {
  if (union(facts.present, entriesOf(manifests)).length <= maxEntries) {
    const planted = plantedClaim(manifests, facts)
    return planted && { ...planted, whileApplying: true }
  }
  const message = `the Application would own more than ${maxEntries} objects while it changes: render fewer, or fix what refused the change before`
  return { reason: applicationReasons.chartFailed, message }
}

/** Idempotent. @throws KubeError when a retry may succeed */
export async function applyManifests(deps: ApplyDeps, facts: Facts, wanted: Wanted): Promise<Applied> {
  const { present, children, ingress } = facts
  const { manifests } = wanted
  const refusal = refusalOf(facts, manifests)
  if (refusal) return notApplied(facts, refusal)
  const intent = intentOf(facts, wanted, deps.clock.now())
  const application = intent
    ? await deps.status.write(facts.application, { ...facts.application.status, ...intent })
    : facts.application
  const target = { client: deps.client, application, assertCurrent: deps.live }
  const inventory = entriesOf(manifests)
  const everything = union(present, inventory)
  const outcome = await applyObjects(target, manifests, { children, named: new Set(present.map(entryText)) })
  if (outcome.kind === 'refused') return notApplied({ application, present }, { ...outcome, whileApplying: true }, everything)
  await prune(target, obsolete(everything, inventory))
  const [host] = manifests.some(manifest => manifest.kind === 'Ingress') ? hostsOf(application, ingress) : []
  const url = host === undefined ? undefined : urlOf(host, ingress, application.spec.tls !== undefined)
  return { application, progress: { kind: 'applied', url, changed: outcome.changed }, inventory, live: outcome.live }
}
