// What becomes of the images of one repository. Pure. A digest is one decision, whatever number of tags mean it: deleting a
// manifest deletes all of them. It is deleted only when two looks, one period apart, found that nothing names it.
import type { ImageRecord } from '../../store/builds/image-records.ts'
import type { ImageNames } from './named-images.ts'

/** A record whose tag is in the registry. */
export type PresentImage = ImageRecord & { readonly digest: string }

/** What the cluster says at one moment. */
export type ClusterNames = ImageNames & {
  /** The uids of the tenant's RemoteSyncs. */
  readonly remoteSyncs: ReadonlySet<string>
}

export type DigestFacts = {
  readonly digest: string
  /** All records of the repository with this digest, at least one. */
  readonly images: readonly PresentImage[]
  readonly names: ClusterNames
  /** Whether a tag that no build pushed means it. */
  readonly taggedByOthers: boolean
  readonly now: Date
  /** Between two looks, as `graceOf` says. */
  readonly graceMilliseconds: number
}

export type DigestDecision =
  /** Something names it, or may need it. */
  | { readonly kind: 'keep' }
  /** Nothing names it; not for long enough, or a tag of it was not looked at yet, as after a new build of the same content. */
  | { readonly kind: 'unused' }
  | { readonly kind: 'delete' }

/** Whether anything may still pull the image. */
export function isNeeded({ digest, images, names, taggedByOthers }: Omit<DigestFacts, 'now' | 'graceMilliseconds'>): boolean {
  if (taggedByOthers || names.digests.has(digest)) return true
  const pinned = [...(names.pinned.get(digest) ?? [])]
  return images.some(({ kind, owner, repository, tag }) => {
    if (names.references.has(`${repository}:${tag}`) || pinned.some(name => name.endsWith(`/${repository}`))) return true
    return kind === 'Cache' && (owner === undefined || names.remoteSyncs.has(owner))
  })
}

/**
 * Between two looks at images of previews that have ended: nothing of a preview is taken up again, but by a branch, which
 * claims it.
 */
export const endedPreviewMilliseconds = 5_000

/**
 * How long nothing may have named the images of a digest. Short only when all of them are of previews whose RemoteSync is gone.
 */
export function graceOf(images: readonly PresentImage[], names: ClusterNames, periodMilliseconds: number): number {
  const haveEnded = images.every(({ ofPreview, owner }) => ofPreview && owner !== undefined && !names.remoteSyncs.has(owner))
  return haveEnded ? Math.min(endedPreviewMilliseconds, periodMilliseconds) : periodMilliseconds
}

export function decide(facts: DigestFacts): DigestDecision {
  const { images, now, graceMilliseconds } = facts
  if (images.length === 0 || isNeeded(facts)) return { kind: 'keep' }
  const latest = now.getTime() - graceMilliseconds
  return {
    kind: images.every(({ unusedSince }) => unusedSince !== undefined && unusedSince.getTime() <= latest) ? 'delete' : 'unused',
  }
}
