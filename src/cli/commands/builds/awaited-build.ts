// Whether a RemoteSync has a build ahead of the newest one that has a log: the first of all, or that of a commit which was just
// pushed. Pure.
import { type RemoteSync, remoteSync } from '../../../api/apps/remote-sync.ts'
import { classOf } from '../../../api/reasons/reason.ts'
import { findCondition, reportedGeneration } from '../../../kube/object/conditions.ts'
import type { Build } from './build-answers.ts'

export type Awaited =
  /** `message`: what it waits for, for people. */
  | { readonly kind: 'awaited'; readonly message: string }
  /** `message`: why, for people; undefined when nothing is wrong. */
  | { readonly kind: 'none'; readonly message: string | undefined }

/** `newest`: the newest build of the RemoteSync; undefined before the first. */
export function awaitedBuild(
  { metadata, status }: Pick<RemoteSync, 'metadata' | 'status'>,
  newest: Pick<Build, 'commit'> | undefined,
): Awaited {
  if (newest !== undefined && newest.commit === status?.commit) return { kind: 'none', message: undefined }
  const ready = findCondition(status?.conditions, 'Ready')
  if (ready === undefined || reportedGeneration(status) < (metadata.generation ?? 1))
    return newest === undefined
      ? { kind: 'awaited', message: 'the platform has not looked at it yet' }
      : { kind: 'none', message: undefined }
  const message = `${ready.reason}: ${ready.message}`
  const isBuilt = findCondition(status?.conditions, 'Built')?.status === 'True'
  if (!isBuilt && classOf(remoteSync, ready.reason) === 'progress') return { kind: 'awaited', message }
  return { kind: 'none', message: ready.status === 'True' ? undefined : message }
}
