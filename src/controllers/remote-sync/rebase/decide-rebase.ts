// Whether an image is to get another run image, and what became of it. Pure. Only what is as it should be is rebased: the
// newest commit runs, and nothing else is to be done. The commit of the image stays the same, and the image has to say so
// again.
import { appPipeline } from '../../../api/apps/app-pipeline.ts'
import type { RemoteSync } from '../../../api/apps/remote-sync.ts'
import { rebasePrefix } from '../../../api/names.ts'
import { canonicalJson } from '../../../lib/json/canonical-json.ts'
import { defined } from '../../../lib/json/defined.ts'
import { shortHash } from '../../../lib/text/bounded-name.ts'
import type { BuildState } from '../../../services/builds/builder.ts'
import type { BuilderBase } from '../../../services/builds/rebaser.ts'
import { maxAttemptsUnanswered, unansweredBy, unreadRetryMilliseconds } from '../decide-build.ts'
import { existingApplications, type Facts } from '../gather.ts'
import type { RemoteSyncStatus } from '../status.ts'

type Rebase = NonNullable<RemoteSyncStatus['rebase']>

export type RebasePlan = {
  /** Of the build: the same for the same image, run image and attempt, so that it is found again after a crash. */
  readonly name: string
  readonly image: string
  readonly commit: string
  /** Digest. */
  readonly runImage: string
  /** The id of the stack of the builder, then and now. */
  readonly stack: string
  /** From 1. */
  readonly attempt: number
  /** As the status says it before. */
  readonly former: { readonly image: string; readonly runImage: string }
}

function rebaseName({ metadata }: RemoteSync, image: string, runImage: string, attempt: number): string {
  const inputs = { uid: metadata.uid ?? '', image, runImage, ...(attempt === 1 ? {} : { attempt }) }
  const hash = shortHash(canonicalJson(inputs))
  return `${rebasePrefix(metadata.name)}${hash}`
}

/** Previews end soon, and each push builds them. */
function isPreview({ metadata }: RemoteSync): boolean {
  return metadata.ownerReferences?.some(({ controller, kind }) => controller === true && kind === appPipeline.kind) === true
}

/**
 * What waits for the next build: images in the repository of a preview or of another Application, and what a person holds where
 * it is.
 */
function isLeft(
  { remoteSync, ...named }: Pick<Facts, 'remoteSync' | 'application' | 'others'>,
  { image, promoted }: RemoteSyncStatus,
): boolean {
  const isInRepository = image?.split('@', 1)[0]?.endsWith(`/${remoteSync.spec.application}`) === true
  const isHeld = existingApplications(named).some(({ spec }) => spec.pinnedRelease !== undefined)
  return !isInRepository || promoted !== undefined || isPreview(remoteSync) || isHeld
}

/** `newest`: the builder as it is now. Only what the same builder built on the same stack gets its run image. */
export function planRebase(
  facts: Pick<Facts, 'remoteSync' | 'application' | 'others'>,
  status: RemoteSyncStatus,
  newest: BuilderBase | undefined,
): RebasePlan | undefined {
  const { image, imageCommit, imageBuilder, runImage, rebase } = status
  if (newest === undefined || image === undefined || imageCommit === undefined || runImage === undefined) return undefined
  if (imageBuilder?.name !== newest.name || imageBuilder.stack !== newest.stack || runImage === newest.runImage) return undefined
  const same = rebase?.runImage === newest.runImage ? rebase : undefined
  if (same?.failure !== undefined || isLeft(facts, status)) return undefined
  const attempt = same?.attempt ?? 1
  return {
    name: rebaseName(facts.remoteSync, image, newest.runImage, attempt),
    image,
    commit: imageCommit,
    runImage: newest.runImage,
    stack: newest.stack,
    attempt,
    former: { image, runImage },
  }
}

export type RebaseAction =
  | { readonly kind: 'start' }
  /** Milliseconds after which it is given up. */
  | { readonly kind: 'wait'; readonly milliseconds: number }
  /** Something of the platform did not answer: the next attempt may have another end. */
  | { readonly kind: 'retry'; readonly message: string; readonly milliseconds: number }
  /** `isStuck`: the build may go on, and is to be ended. */
  | { readonly kind: 'fail'; readonly message: string; readonly isStuck?: boolean }
  | { readonly kind: 'use'; readonly image: string }
  /** The image cannot be read now. */
  | { readonly kind: 'readAgain'; readonly message: string }

/** What the build of the plan, as it was observed, asks for. */
export function decideRebase({ name, commit, attempt }: RebasePlan, state: BuildState, now: Date): RebaseAction {
  switch (state.kind) {
    case 'absent':
      return { kind: 'start' }
    case 'running':
      return { kind: 'wait', milliseconds: Math.max(1000, state.deadline.getTime() - now.getTime()) }
    case 'timed-out':
      return { kind: 'fail', message: `rebase ${name} did not end in time: ${state.detail}`, isStuck: true }
    case 'failed': {
      const unanswered = unansweredBy(state)
      if (unanswered !== undefined && attempt < maxAttemptsUnanswered)
        return {
          kind: 'retry',
          message: `rebase ${name} could not ${unanswered}`,
          milliseconds: unreadRetryMilliseconds * attempt,
        }
      return {
        kind: 'fail',
        message: `rebase ${name} failed in step ${state.step}: ${state.cause ?? unanswered ?? state.detail}`,
      }
    }
    case 'succeeded': {
      const { proof } = state
      if (proof.kind === 'unreadable') return { kind: 'readAgain', message: proof.message }
      const found = proof.kind === 'proven' ? proof.commit : 'no commit'
      if (found !== commit)
        return { kind: 'fail', message: `the image of rebase ${name} names ${found}, not ${commit}: it is not used` }
      return { kind: 'use', image: state.image }
    }
  }
}

/** What came of the rebase before stays said: the image may be the one that runs. */
function withRebase(
  status: RemoteSyncStatus,
  { name, runImage, attempt }: RebasePlan,
  more: Partial<Rebase> = {},
): RemoteSyncStatus {
  const image = status.rebase?.image
  const rebase = { build: name, runImage, ...(attempt === 1 ? {} : { attempt }), ...defined({ image }) }
  return { ...status, rebase: { ...rebase, ...more } }
}

export function withBegunRebase(status: RemoteSyncStatus, plan: RebasePlan): RemoteSyncStatus {
  return withRebase(status, plan)
}

/** The next attempt, under a name of its own. */
export function withNextAttempt(remoteSync: RemoteSync, status: RemoteSyncStatus, plan: RebasePlan): RemoteSyncStatus {
  const attempt = plan.attempt + 1
  return withRebase(status, { ...plan, attempt, name: rebaseName(remoteSync, plan.image, plan.runImage, attempt) })
}

/** Not tried again for this run image. */
export function withFailedRebase(status: RemoteSyncStatus, plan: RebasePlan, message: string): RemoteSyncStatus {
  return withRebase(status, plan, { failure: message.slice(0, 2048) })
}

/**
 * The image has the run image that was asked for, whatever its labels say: code of the build can change them, and would be
 * rebased for ever. The build that made the rest of the image stays named, and so does what it was before its release has
 * proved itself.
 */
export function withRebased(status: RemoteSyncStatus, plan: RebasePlan, image: string): RemoteSyncStatus {
  return { ...withRebase(status, plan, { image, former: plan.former }), image, runImage: plan.runImage }
}
