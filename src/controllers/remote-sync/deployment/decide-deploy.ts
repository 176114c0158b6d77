// Whether image and commit must be set on an Application, and what its rollout means for the RemoteSync. Pure.
import { type Application, applicationReasons, application as applications } from '../../../api/apps/application.ts'
import { remoteSyncReasons as reasons } from '../../../api/apps/remote-sync.ts'
import { classOf, goesOnByItself } from '../../../api/reasons/reason.ts'
import { findCondition } from '../../../kube/object/conditions.ts'
import type { BuiltImage } from '../desired.ts'
import type { Facts } from '../gather.ts'
import { applicationNotFound, type Halt, halt } from '../halt.ts'

/** An Application that the spec names, in that field; undefined when it does not exist. */
export type Target = {
  readonly name: string
  readonly field: 'spec.application' | 'spec.otherApplications'
  readonly application: Application | undefined
}

export type DeployAction =
  | { readonly kind: 'halt'; readonly halt: Halt }
  /** `keep`: the Application has both already. */
  | { readonly kind: 'apply' | 'keep'; readonly application: Application }

/** That of `spec.application` first: the others wait for its release job. */
export function targetsOf({
  remoteSync,
  application,
  others,
}: Pick<Facts, 'remoteSync' | 'application' | 'others'>): readonly [Target, ...Target[]] {
  const first: Target = { name: remoteSync.spec.application, field: 'spec.application', application }
  return [first, ...others.map((other): Target => ({ ...other, field: 'spec.otherApplications' }))]
}

/** Two would set the image. The schema refuses it, too. */
function followsTag({ metadata: { name, namespace } }: Application): Halt {
  const unfollow = `kubectl patch application ${name} -n ${namespace} --type merge -p '{"spec":{"followTag":null}}'`
  const message = `Application ${name} follows a tag, so the image of the commit was built but is not set: to run it: \`${unfollow}\``
  return halt('Deployed', reasons.applicationFollowsTag, message)
}

/**
 * Image and commit are written only when one of them differs; a missing Application halts, because a RemoteSync never creates
 * one.
 */
export function decideDeploy({ application, name, field }: Target, built: BuiltImage): DeployAction {
  if (!application || application.metadata.deletionTimestamp !== undefined)
    return { kind: 'halt', halt: applicationNotFound('Deployed', name, field) }
  if (application.spec.image === built.image && application.spec.commit === built.commit) return { kind: 'keep', application }
  if (application.spec.followTag === true) return { kind: 'halt', halt: followsTag(application) }
  return { kind: 'apply', application }
}

/**
 * Whether the release job that goes before this image has not succeeded yet: of the newest release, once that is of the spec as
 * it is.
 */
export function awaitsJob({ metadata, spec, status }: Application, image: string): boolean {
  if (spec.releaseJob === undefined || status?.image === image) return false
  const { releasedGeneration, latestRelease, releaseJob } = status ?? {}
  const isReleased = releasedGeneration !== undefined && releasedGeneration === metadata.generation
  return !(isReleased && releaseJob?.release === latestRelease && releaseJob?.state === 'Succeeded')
}

/** When the image became available, or why it is not available yet. */
export type Rollout =
  | { readonly availableAt: string; readonly halted?: undefined }
  | { readonly halted: Halt; readonly availableAt?: undefined }

/** Nobody would notice that a pinned Application ignores every push. What runs by the pin may be this very image. */
function pinned({ metadata, spec, status }: Application, image: string): Halt | undefined {
  if (spec.pinnedRelease === undefined || status?.image === image) return undefined
  const unpin = `kubectl patch application ${metadata.name} -n ${metadata.namespace} --type merge -p '{"spec":{"pinnedRelease":null}}'`
  const message = `Application ${metadata.name} is pinned to release ${spec.pinnedRelease}: the image of the newest commit was built but does not run; to run it: \`${unpin}\``
  return halt('Ready', reasons.pinned, message)
}

/**
 * Reads the condition Ready of the Application: one of another generation, or of another image, means that it is still rolling
 * out.
 */
export function decideRollout(application: Application, image: string, now: Date): Rollout {
  const { status, metadata } = application
  const held = pinned(application, image)
  if (held) return { halted: held }
  const ready = findCondition(status?.conditions, 'Ready')
  const current = ready?.observedGeneration === metadata.generation
  if (current && ready?.status === 'True' && status?.image === image)
    return { availableAt: status.availableAt ?? now.toISOString() }
  if (!current || ready?.reason === applicationReasons.rollingOut || ready?.status !== 'False')
    return { halted: halt('Ready', reasons.rollingOut, `Application ${metadata.name} is rolling out`) }
  const message = `Application ${metadata.name}: ${ready.reason}: ${ready.message}`
  // Nothing about the image.
  if (goesOnByItself(classOf(applications, ready.reason))) return { halted: halt('Ready', reasons.rollingOut, message) }
  return { halted: halt('Ready', reasons.applicationNotReady, message) }
}
