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

/** When the image of a rebase could not be read. */
const imageRetryMilliseconds = 10_000

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

/** `milliseconds`: when to look again. `message`: why it is not rebased, or not yet. */
type Looked = { readonly status: RemoteSyncStatus; readonly milliseconds?: number; readonly message?: string }

export type RebaseAction =
  | { readonly kind: 'start' }
  /** It goes on, or its image cannot be read now. */
  | (Looked & { readonly kind: 'wait' })
  /** Something of the platform did not answer: the next attempt may have another end. */
  | (Looked & { readonly kind: 'retry' })
  /** `isStuck`: the build may go on, and is to be ended. */
  | (Looked & { readonly kind: 'fail'; readonly isStuck?: boolean })
  | (Looked & { readonly kind: 'use' })

/** What the build of the plan, as it was observed, asks for, and the status that it implies. */
export function decideRebase(
  { remoteSync, now }: Pick<Facts, 'remoteSync' | 'now'>,
  status: RemoteSyncStatus,
  plan: RebasePlan,
  state: BuildState,
): RebaseAction {
  const { name, commit, attempt } = plan
  const fail = (message: string): Extract<RebaseAction, { kind: 'fail' }> => ({
    kind: 'fail',
    message,
    status: withFailedRebase(status, plan, message),
  })
  switch (state.kind) {
    case 'absent':
      return { kind: 'start' }
    case 'running': {
      const milliseconds = Math.max(1000, state.deadline.getTime() - now.getTime())
      return { kind: 'wait', status: withRebase(status, plan), milliseconds }
    }
    case 'timed-out':
      return { ...fail(`rebase ${name} did not end in time: ${state.detail}`), isStuck: true }
    case 'failed': {
      const unanswered = unansweredBy(state)
      if (unanswered === undefined || attempt >= maxAttemptsUnanswered)
        return fail(`rebase ${name} failed in step ${state.step}: ${state.cause ?? unanswered ?? state.detail}`)
      const next = { ...plan, attempt: attempt + 1, name: rebaseName(remoteSync, plan.image, plan.runImage, attempt + 1) }
      const message = `rebase ${name} could not ${unanswered}`
      return { kind: 'retry', message, status: withRebase(status, next), milliseconds: unreadRetryMilliseconds * attempt }
    }
    case 'succeeded': {
      const { proof, image } = state
      if (proof.kind === 'unreadable')
        return { kind: 'wait', message: proof.message, status: withRebase(status, plan), milliseconds: imageRetryMilliseconds }
      const found = proof.kind === 'proven' ? proof.commit : 'no commit'
      if (found !== commit) return fail(`the image of rebase ${name} names ${found}, not ${commit}: it is not used`)
      return { kind: 'use', status: withRebased(status, plan, image), milliseconds: 0 }
    }
  }
}

/** What came of the rebase before stays said: the image may be the one that runs. */
export function withRebase(
  status: RemoteSyncStatus,
  { name, runImage, attempt }: RebasePlan,
  more: Partial<Rebase> = {},
): RemoteSyncStatus {
  const image = status.rebase?.image
  const rebase = { build: name, runImage, ...(attempt === 1 ? {} : { attempt }), ...defined({ image }) }
  return { ...status, rebase: { ...rebase, ...more } }
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
function withRebased(status: RemoteSyncStatus, plan: RebasePlan, image: string): RemoteSyncStatus {
  return { ...withRebase(status, plan, { image, former: plan.former }), image, runImage: plan.runImage }
}
