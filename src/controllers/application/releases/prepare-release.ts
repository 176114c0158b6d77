// Finds out which release an Application is to run, makes the Release that its spec asks for, and runs the release job. Writes by
// write-releases.ts only. Order: the Release, then its job: each exists before its effects, and a run after a crash finds it.
import { type Application, applicationReasons as reasons } from '../../../api/apps/application.ts'
import { type Release, type ReleaseHeader, release as releases } from '../../../api/apps/release.ts'
import { jobs } from '../../../api/builtin/index.ts'
import type { KubeClient } from '../../../kube/client/client.ts'
import { KubeError } from '../../../kube/client/errors.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { Refusal } from '../../../policy/check.ts'
import type { LiveApplication } from '../live-application.ts'
import type { Manifests } from '../rendering/manifest-source.ts'
import { type Choice, choosePinned, chooseRelease, planRelease, type ReleasePlan } from './choose-release.ts'
import { type Changes, changedBy, changedByKnown, changeOf, desiredRelease, personIn, releaseName } from './desired-release.ts'
import type { KnownLogins } from './known-logins.ts'
import { applicationOf, contentHash, type ReleaseFacts } from './release-content.ts'
import { decideJob, deletedJob, desiredJob, type JobRecord, jobHold } from './release-job.ts'
import type { ReleaseObservation } from './release-status.ts'
import type { Snapshots } from './snapshots.ts'
import { createRelease, startJob } from './write-releases.ts'

export type ReleaseDeps = {
  readonly client: Pick<KubeClient, 'get' | 'create' | 'delete'>
  readonly snapshots: Snapshots
  readonly knownLogin: KnownLogins
  readonly live: LiveApplication
  readonly clock: Clock
}

/** What decides which release runs. */
type Facts = { readonly application: Application; readonly releases: ReleaseFacts; readonly followed?: { readonly tag: string } }

/** The manifests of the spec as it is, or why there are none. */
export type RenderSpec = () => Promise<Manifests>

export type Prepared =
  /** `application`: as the release says it. */
  | { readonly kind: 'run'; readonly application: Application; readonly observed: ReleaseObservation }
  /** Nothing is to be applied. `observed`: absent when nothing was decided about releases. */
  | ({ readonly kind: 'refused'; readonly observed?: ReleaseObservation } & Refusal)

/**
 * The newest Release. The cache may not have one yet that this process made; one that was deleted by force leaves only its
 * number.
 */
async function newestOf(
  { client }: ReleaseDeps,
  { application, releases: { headers } }: Facts,
): Promise<ReleaseHeader | undefined> {
  const [newest] = headers
  const latest = application.status?.latestRelease ?? 0
  if (latest <= (newest?.spec.number ?? 0)) return newest
  const { namespace = '', name, uid } = application.metadata
  const live = await client.get(releases, { namespace, name: releaseName(name, latest) })
  return live?.spec.application.uid === uid ? live : newest
}

/** The last generation of which there is a release: the status follows the Release, and a crash may be between the two. */
function releasedGeneration({ status }: Application, newest: ReleaseHeader | undefined): number {
  return Math.max(status?.releasedGeneration ?? 0, newest?.spec.application.generation ?? 0)
}

/**
 * What changed, and where that came from. Release 1 may be made of the cached spec. A later one reads the live Application, so
 * that a cache that is behind never undoes a newer spec.
 */
async function changeBehind(
  deps: ReleaseDeps,
  application: Application,
  plan: ReleasePlan,
  changes: Changes,
): Promise<Pick<Release['spec'], 'reason' | 'by'>> {
  const reason = changeOf(application, plan.reason)
  const known = plan.number === 1 ? changedByKnown(application, changes, reason) : undefined
  if (known) return { reason, by: known }
  const live = await deps.live()
  const reasonNow = changeOf(live, plan.reason)
  return { reason: reasonNow, by: changedBy(live, changes, reasonNow) }
}

type Current = { readonly kind: 'current'; readonly release: ReleaseHeader; readonly madeAt: string | undefined }

async function currentRelease(
  deps: ReleaseDeps,
  facts: Facts,
  render: RenderSpec,
): Promise<Current | ({ kind: 'refused' } & Refusal)> {
  const { application, releases: known } = facts
  const { secretVersions, syncs } = known
  const newest = await newestOf(deps, facts)
  const inputs = { secretVersions, tag: facts.followed?.tag }
  const plan = planRelease(application, newest, inputs)
  if (plan === undefined && newest) return { kind: 'current', release: newest, madeAt: undefined }
  if (plan === undefined) throw new KubeError('a first release is always planned', { status: 0, reason: 'Malformed' })
  // What cannot be rendered is not released.
  const rendered = await render()
  if (rendered.kind === 'refused') return rendered
  const { reason, by } = await changeBehind(deps, application, plan, { syncs, released: releasedGeneration(application, newest) })
  const person = personIn(by)
  // GitHub's own answer is newer than the sign-in of whoever made the change.
  const login = person === undefined ? undefined : deps.knownLogin(application.metadata.namespace ?? '', person)
  const named = login === undefined ? by : { ...by, login }
  const desired = desiredRelease(application, { ...plan, reason }, { ...inputs, by: named })
  const made: Release = await createRelease({ client: deps.client, application }, desired)
  return { kind: 'current', release: made, madeAt: deps.clock.now().toISOString() }
}

type JobStep =
  | { readonly kind: 'job'; readonly record: JobRecord | undefined; readonly hold: Refusal | undefined }
  | ({ readonly kind: 'refused' } & Refusal)

async function start(deps: ReleaseDeps, { application }: Facts, newest: number, render: RenderSpec): Promise<JobStep> {
  const rendered = await render()
  if (rendered.kind === 'refused') return rendered
  const desired = desiredJob(application, newest, rendered.manifests)
  if (desired === undefined) {
    const message =
      'spec.releaseJob: the chart renders no Deployment whose image and environment the job could have: remove the field'
    return { kind: 'refused', reason: reasons.chartFailed, message }
  }
  const { metadata } = await startJob({ client: deps.client, application }, desired)
  const record: JobRecord = { release: newest, name: metadata.name, state: 'Running', startedAt: deps.clock.now().toISOString() }
  return { kind: 'job', record, hold: jobHold(record, application.metadata.namespace ?? '') }
}

/** Nothing of a suspended Application runs, its release job included. */
const suspended: Refusal = { reason: reasons.suspended, message: 'the release job runs when spec.suspend is false again' }

/** Runs the release job, as far as it must. */
async function jobStep(deps: ReleaseDeps, facts: Facts, newest: number, render: RenderSpec): Promise<JobStep> {
  const { application, releases: known } = facts
  const { namespace = '' } = application.metadata
  if (application.spec.releaseJob === undefined) return { kind: 'job', record: undefined, hold: undefined }
  const now = deps.clock.now()
  const decision = decideJob({ newest, status: application.status, ...known, now }, application)
  switch (decision.kind) {
    case 'start':
      if (application.spec.suspend === true) return { kind: 'job', record: undefined, hold: suspended }
      return start(deps, facts, newest, render)
    case 'ask': {
      const { record } = decision
      const live = await deps.client.get(jobs, { namespace, name: record.name })
      const updated = live ? record : deletedJob(record, now)
      return { kind: 'job', record: updated, hold: jobHold(updated, namespace) }
    }
    case 'cleared':
    case 'hold':
      return { kind: 'job', record: decision.record, hold: decision.kind === 'hold' ? decision.hold : undefined }
  }
}

/** The Application as the chosen release says it. The newest release says what the spec says. */
async function prepared(
  deps: ReleaseDeps,
  { application, releases: { headers } }: Facts,
  choice: Choice,
  observed: Omit<ReleaseObservation, 'runs' | 'hold'>,
): Promise<Prepared> {
  if (choice.kind === 'refused') return choice
  if (choice.kind === 'nothing')
    return { kind: 'refused', ...choice.hold, observed: { ...observed, runs: undefined, hold: choice.hold } }
  const { number, hold } = choice
  const seen = { ...observed, runs: number, hold }
  if (number === observed.newest && !observed.isPinned) return { kind: 'run', application, observed: seen }
  const header = headers.find(({ spec }) => spec.number === number)
  const snapshot = header && (await deps.snapshots.of(header))
  if (snapshot) return { kind: 'run', application: applicationOf(application, snapshot), observed: seen }
  const message = `release ${number} was deleted: change the image or the spec to make another release`
  return { kind: 'refused', reason: reasons.releaseNotFound, message }
}

/** For an Application whose `spec.pinnedRelease` is set: nothing is released, and no job runs. */
export function preparePinned(deps: ReleaseDeps, facts: Facts, pinned: number): Promise<Prepared> {
  const { headers } = facts.releases
  const { status } = facts.application
  const [newest] = headers
  // The spec beside the pin may have changed since.
  const isNewest = newest?.spec.hash === contentHash(facts.application, facts.releases.secretVersions)
  const released = isNewest ? facts.application.metadata.generation : undefined
  const found = { newest: newest?.spec.number, madeAt: undefined, released }
  const observed = { ...found, isPinned: true, job: undefined, replicas: undefined }
  return prepared(deps, facts, choosePinned(pinned, headers, status), observed)
}

/**
 * For an Application whose spec can be rendered.
 * @throws KubeError when a retry may succeed
 */
export async function prepareRelease(deps: ReleaseDeps, facts: Facts, render: RenderSpec): Promise<Prepared> {
  const current = await currentRelease(deps, facts, render)
  if (current.kind === 'refused') return current
  const newest = current.release.spec.number
  const job = await jobStep(deps, facts, newest, render)
  if (job.kind === 'refused') return job
  const found = { newest, madeAt: current.madeAt, released: facts.application.metadata.generation }
  const observed = { ...found, isPinned: false, job: job.record, replicas: undefined }
  return prepared(deps, facts, chooseRelease(newest, facts.application.status, job.hold), observed)
}
