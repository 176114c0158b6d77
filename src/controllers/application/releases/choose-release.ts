// Which release an Application runs, and whether another one must be made. Pure.
import { type Application, applicationReasons as reasons } from '../../../api/apps/application.ts'
import { type ReleaseHeader, releaseOutcomes } from '../../../api/apps/release.ts'
import { findCondition } from '../../../kube/object/conditions.ts'
import { sameJson } from '../../../lib/json/same-json.ts'
import type { Refusal } from '../../../policy/check.ts'
import { onlyCredentials } from '../services/service-checks.ts'
import { contentHash, type SecretVersions } from './release-content.ts'

type Status = NonNullable<Application['status']>
type Reason = ReleaseHeader['spec']['reason']

/** A release to make. */
export type ReleasePlan = { readonly number: number; readonly hash: string; readonly reason: Reason }

function hasFailed({ spec: { number } }: ReleaseHeader, status: Status | undefined): boolean {
  const job = status?.releaseJob
  const jobFailed = job?.release === number && (job.state === 'Failed' || job.state === 'TimedOut')
  return jobFailed || status?.rollback?.from === number
}

/** A person who changes `restartedAt` after a failure wants the same once more. */
function isRetried({ spec, status }: Application, newest: ReleaseHeader): boolean {
  return spec.restartedAt !== undefined && spec.restartedAt !== newest.spec.restartedAt && hasFailed(newest, status)
}

/**
 * What a release is made of, beside the Application: the versions of its AppSecrets, and the tag that its image was found
 * under.
 */
export type ReleaseInputs = { readonly secretVersions: SecretVersions; readonly tag?: string | undefined }

/** Undefined unless the release before was of the same tag, which means another image now. */
function reasonOfTag(
  application: Application,
  newest: ReleaseHeader,
  { secretVersions, tag }: ReleaseInputs,
): Reason | undefined {
  const { image } = newest.spec
  if (tag === undefined || tag !== newest.spec.tag || image === application.spec.image) return undefined
  const former = { ...application, spec: { ...application.spec, image } }
  return contentHash(former, secretVersions) === newest.spec.hash ? 'TagMoved' : 'SpecChanged'
}

function reasonOf(application: Application, newest: ReleaseHeader | undefined, inputs: ReleaseInputs): Reason {
  if (newest === undefined) return 'First'
  const { secretVersions } = inputs
  const ofTag = reasonOfTag(application, newest, inputs)
  if (ofTag) return ofTag
  const { image, commit } = application.spec
  if (image !== newest.spec.image) return commit === undefined || commit === newest.spec.commit ? 'NewImage' : 'NewCommit'
  const versionsBefore = newest.spec.secretVersions ?? {}
  const onlySecrets = !sameJson(versionsBefore, secretVersions) && contentHash(application, versionsBefore) === newest.spec.hash
  if (!onlySecrets) return 'SpecChanged'
  return onlyCredentials(versionsBefore, secretVersions) ? 'CredentialReplaced' : 'SecretChanged'
}

/**
 * The release that must be made before what the spec says may run; undefined when the newest one says the same. Its number
 * comes from what exists and from the highest one that the status remembers: no number is used again after its release was
 * deleted.
 */
export function planRelease(
  application: Application,
  newest: ReleaseHeader | undefined,
  inputs: ReleaseInputs,
): ReleasePlan | undefined {
  const hash = contentHash(application, inputs.secretVersions)
  const number = Math.max(newest?.spec.number ?? 0, application.status?.latestRelease ?? 0) + 1
  if (newest?.spec.hash !== hash) return { number, hash, reason: reasonOf(application, newest, inputs) }
  return isRetried(application, newest) ? { number, hash, reason: 'Retried' } : undefined
}

/** Which release's content the cluster is to have; `hold` says why that is not the newest. */
export type Choice =
  | { readonly kind: 'run'; readonly number: number; readonly hold?: Refusal }
  /** Nothing can run yet. */
  | { readonly kind: 'nothing'; readonly hold: Refusal }
  | ({ readonly kind: 'refused' } & Refusal)

/** A release that never ran is not run by a pin: its release job has not succeeded, or was never started. */
function hasRun({ spec: { number }, status: own }: ReleaseHeader, status: Status | undefined): boolean {
  const reason = findCondition(own?.conditions, 'Ready')?.reason
  if (reason === releaseOutcomes.rolledOut || reason === releaseOutcomes.unhealthy) return true
  return status?.release === number || status?.rollout?.release === number
}

/** The release that `spec.pinnedRelease` names, or why it cannot run. `releases`: all of the Application. */
export function choosePinned(pinned: number, releases: readonly ReleaseHeader[], status: Status | undefined): Choice {
  const usable = releases.filter(release => hasRun(release, status)).map(({ spec }) => spec.number)
  if (usable.includes(pinned)) return { kind: 'run', number: pinned }
  const known = releases.some(({ spec }) => spec.number === pinned)
  const problem = known ? `release ${pinned} never ran` : `there is no release ${pinned}`
  const others = usable.length === 0 ? 'there is none that ran' : `use one of ${usable.toSorted((a, b) => a - b).join(', ')}`
  const message = `spec.pinnedRelease: ${problem}: ${others}, or remove the field`
  return { kind: 'refused', reason: reasons.releaseNotFound, message }
}

function rolledBack({ from, to, reason }: NonNullable<Status['rollback']>): Refusal {
  const message = `release ${from} was rolled back: ${reason}: release ${to} runs again. Change the image or the spec to make another release, or set spec.restartedAt to try this one again`
  return { reason: reasons.rolledBack, message }
}

/**
 * The release that runs when none is pinned. `hold`: why the newest one may not be rolled out yet, or never. Until it may, what
 * the cluster has stays.
 */
export function chooseRelease(newest: number, status: Status | undefined, hold: Refusal | undefined): Choice {
  const rollback = status?.rollback
  if (hold !== undefined) {
    const present = status?.rollout?.release ?? status?.release
    return present === undefined || present === newest ? { kind: 'nothing', hold } : { kind: 'run', number: present, hold }
  }
  if (rollback?.from === newest) return { kind: 'run', number: rollback.to, hold: rolledBack(rollback) }
  return { kind: 'run', number: newest }
}
