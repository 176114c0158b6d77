// Whether an image is to get another run image, and what became of it. Pure. Only what is as it should be is rebased: the newest commit runs, and
// nothing else is to be done. The commit of the image stays the same, and the image has to say so again.
import { createHash } from 'node:crypto'
import { appPipeline } from '../../../api/apps/app-pipeline.ts'
import type { RemoteSync } from '../../../api/apps/remote-sync.ts'
import type { BuildState } from '../../../builds/builder.ts'
import { canonicalJson } from '../../../lib/json/canonical-json.ts'
import type { RemoteSyncStatus } from '../status.ts'

export type RebasePlan = {
  /** Of the build: the same for the same image and run image, so that it is found again after a crash. */
  readonly name: string
  readonly image: string
  readonly commit: string
  /** Digest. */
  readonly runImage: string
}

const longestPrefix = 30

function rebaseName({ metadata }: RemoteSync, image: string, runImage: string): string {
  const inputs = { uid: metadata.uid ?? '', image, runImage }
  const hash = createHash('sha256').update(canonicalJson(inputs)).digest('hex').slice(0, 12)
  return `${metadata.name.slice(0, longestPrefix).replaceAll('.', '-').replace(/-+$/, '')}-rebase-${hash}`
}

/** Previews end soon, and each push builds them. */
function isPreview({ metadata }: RemoteSync): boolean {
  return metadata.ownerReferences?.some(({ controller, kind }) => controller === true && kind === appPipeline.kind) === true
}

/**
 * `newest`: the digest of the run image on which its builder builds now. An image that was promoted is in the repository of a preview; one whose
 * run image is not known may be of another builder: both get a newer one with their next build.
 */
export function planRebase(
  remoteSync: RemoteSync,
  { image, imageCommit, runImage, promoted, rebase }: RemoteSyncStatus,
  newest: string | undefined,
): RebasePlan | undefined {
  if (newest === undefined || image === undefined || imageCommit === undefined || runImage === undefined) return undefined
  if (runImage === newest || promoted !== undefined || isPreview(remoteSync)) return undefined
  if (rebase?.runImage === newest && rebase.failure !== undefined) return undefined
  return { name: rebaseName(remoteSync, image, newest), image, commit: imageCommit, runImage: newest }
}

export type RebaseAction =
  | { readonly kind: 'start' }
  /** Milliseconds after which it is given up. */
  | { readonly kind: 'wait'; readonly milliseconds: number }
  /** `isStuck`: the build may go on, and is to be ended. */
  | { readonly kind: 'fail'; readonly message: string; readonly isStuck?: boolean }
  | { readonly kind: 'use'; readonly image: string }
  /** The image cannot be read now. */
  | { readonly kind: 'readAgain'; readonly message: string }

/** What the build of the plan, as it was observed, asks for. */
export function decideRebase({ name, commit }: RebasePlan, state: BuildState, now: Date): RebaseAction {
  switch (state.kind) {
    case 'absent':
      return { kind: 'start' }
    case 'running':
      return { kind: 'wait', milliseconds: Math.max(1000, state.deadline.getTime() - now.getTime()) }
    case 'timed-out':
      return { kind: 'fail', message: `rebase ${name} did not end in time: ${state.detail}`, isStuck: true }
    case 'failed':
      return { kind: 'fail', message: `rebase ${name} failed in step ${state.step}: ${state.cause ?? state.detail}` }
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

/**
 * The image has the run image that was asked for, whatever its labels say: code of the build can change them, and would be rebased for ever. The build
 * that made the rest of the image stays named.
 */
export function withRebased(status: RemoteSyncStatus, { name, runImage }: RebasePlan, image: string): RemoteSyncStatus {
  return { ...status, image, runImage, rebase: { build: name, runImage, image } }
}

/** Not tried again for this run image. */
export function withFailedRebase(status: RemoteSyncStatus, { name, runImage }: RebasePlan, message: string): RemoteSyncStatus {
  return { ...status, rebase: { build: name, runImage, failure: message.slice(0, 2048) } }
}
