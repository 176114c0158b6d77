// The reconcile skeleton of kinds that leave something behind which the garbage collector does not end: tokens, builds,
// namespaces. The finalizer is set before anything is created and removed after all of it has ended. It decides nothing about
// the object. What kinds that follow a repository leave on GitHub is ended by the controller of GitHubReports; how they wait
// for that is here.
import { type GitHubReport, githubReport } from '../../api/apps/github-report.ts'
import type { KubeObject, ResourceType } from '../../api/resource.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { done, type Outcome, type ReconcileContext, requeueAfter, type Watch, watches } from '../../kube/controller/controller.ts'
import { addFinalizer, removeFinalizer } from '../../kube/object/finalizers.ts'
import { BoundedMap } from '../../lib/bounded-map.ts'
import { type Clock, elapsed } from '../../lib/clock.ts'
import type { StatusWriter } from './status-writer.ts'

/** What differs between the kinds. */
export type FinalizedKind<T extends KubeObject> = {
  readonly type: ResourceType<T>
  readonly finalizer: string
  readonly client: Pick<KubeClient, 'get' | 'apply' | 'mergePatch'>
  readonly cache: Pick<Cache<T>, 'get'>
  readonly status: Pick<StatusWriter<T>, 'latest'>
  /** Reconciles an object that is not being deleted and has the finalizer. */
  readonly keep: (object: T) => Promise<Outcome>
  /**
   * Ends what the object leaves behind. Resolves to undefined when nothing is left: the finalizer is then removed. An outcome
   * says when to call it again, so every step of it must be idempotent.
   */
  readonly end: (object: T) => Promise<Outcome | undefined>
}

/**
 * An object that is being deleted without our finalizer never got as far as `keep`, or was ended already: nothing is done for it.
 * @throws what `keep` and `end` throw: the key is then retried
 */
export async function reconcileWithFinalizer<T extends KubeObject>(
  kind: FinalizedKind<T>,
  context: Pick<ReconcileContext, 'key'>,
): Promise<Outcome> {
  const found = kind.cache.get(context.key)
  if (found === undefined) return done
  const latest = kind.status.latest(found)
  if (latest.metadata.deletionTimestamp === undefined) {
    const object = await addFinalizer(kind.client, kind.type, latest, kind.finalizer)
    return object === undefined ? done : kind.keep(object)
  }
  if (!latest.metadata.finalizers?.includes(kind.finalizer)) return done
  const outcome = await kind.end(latest)
  if (outcome !== undefined) return outcome
  await removeFinalizer(kind.client, kind.type, latest, kind.finalizer)
  return done
}

/** The reports of the object with this uid. */
export type ReportsOf = (followerUid: string) => readonly GitHubReport[]

const index = 'github-report/follower'
const followerOf = ({ spec }: GitHubReport): readonly string[] => [spec.follower.uid]
const maxWait = 60_000
/** The writes of an installation are spread: so long for each report. */
const waitForEach = 5_000
/** Beyond this many objects that are deleted at once, the one that waits longest begins its wait again. */
const maxWaiting = 10_000

/** Call before the manager starts. */
export function reportsOfFollower(reports: Pick<Cache<GitHubReport>, 'addIndex' | 'byIndex'>): ReportsOf {
  reports.addIndex(index, followerOf)
  return uid => reports.byIndex(index, uid)
}

/** Wakes the object of that kind when one of its reports has ended. */
export function reportEnds(kind: string): Watch {
  return watches(
    githubReport,
    ({ metadata: { namespace = '' }, spec: { follower } }) =>
      follower.kind === kind ? [{ namespace, name: follower.name }] : [],
    { predicate: ({ new: present }) => present === undefined },
  )
}

/**
 * For the end of an object that is being deleted, by its uid: undefined when its reports have ended, or it waited long enough.
 * They are written under its grant, which goes with it; a deletion must not depend on GitHub.
 */
export type ReportWait = (followerUid: string) => Outcome | undefined

// Memory (waits for reports): uid of an object that is being deleted → until when it waits for its GitHubReports to end
//   life: a minute, and 5 s more for each report
//   bound: 10,000 of each kind, the one asked about longest ago begins again
//   freshness: the end of the last report
//   replicas: leader only; the next waits again
/**
 * The wait begins when it is first asked for, and not with the deletion: what was deleted while no process ran, or whose
 * previews took their time to end, would not wait at all. In memory: a process that starts again waits again.
 */
export function createReportWait(reportsOf: ReportsOf, clock: Clock): ReportWait {
  const waits = new BoundedMap<{ readonly until: number }>(maxWaiting)
  return uid => {
    const { length } = reportsOf(uid)
    if (length === 0) {
      waits.delete(uid)
      return undefined
    }
    const now = elapsed(clock)
    // For as many reports as there are at the beginning: that some have ended is not a reason to wait less for the others.
    const { until } = waits.get(uid) ?? { until: now + maxWait + waitForEach * length }
    waits.set(uid, { until })
    return until > now ? requeueAfter(Math.max(1000, until - now)) : undefined
  }
}
