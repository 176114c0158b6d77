// Whether a RemoteSync has a build ahead of the newest one that has a log: the first of all, that of a commit which was just
// pushed, or another attempt. Pure.
import { type RemoteSync, remoteSync, remoteSyncReasons } from '../../../api/apps/remote-sync.ts'
import { classOf } from '../../../api/reasons/reason.ts'
import { findCondition, reportedGeneration } from '../../../kube/object/conditions.ts'
import { textAt } from '../../../lib/json/json-value.ts'
import type { Build } from './build-answers.ts'

export type Awaited =
  /** `message`: what it waits for, for people. */
  | { readonly kind: 'awaited'; readonly message: string }
  /** `message`: why, for people; undefined when nothing is wrong. */
  | { readonly kind: 'none'; readonly message: string | undefined }

type Looked = Pick<RemoteSync, 'metadata' | 'status'>

const unseen = { kind: 'awaited', message: 'the platform has not looked at it yet' } as const

/** A change of the RemoteSync gives a commit that failed another attempt, whose build is not there at once. */
function hasOtherAttempt(sync: Looked, newest: Build): boolean {
  const outcome = textAt(newest, 'outcome')
  if (outcome === undefined || outcome === 'Succeeded') return false
  const name = sync.status?.build?.name
  return !isReported(sync) || (name !== undefined && name !== newest.name)
}

function isReported({ metadata, status }: Looked): boolean {
  return reportedGeneration(status) >= (metadata.generation ?? 1)
}

/** `newest`: the newest build of the RemoteSync; undefined before the first. */
export function awaitedBuild(sync: Looked, newest: Build | undefined): Awaited {
  const { status } = sync
  const isAgain = newest !== undefined && newest.commit === status?.commit
  if (isAgain && !hasOtherAttempt(sync, newest)) return { kind: 'none', message: undefined }
  const ready = findCondition(status?.conditions, 'Ready')
  if (ready === undefined || !isReported(sync))
    return newest === undefined || isAgain ? unseen : { kind: 'none', message: undefined }
  const message = `${ready.reason}: ${ready.message}`
  const isBuilt = findCondition(status?.conditions, 'Built')?.status === 'True'
  if (!isBuilt && classOf(remoteSync, ready.reason) === 'progress') return { kind: 'awaited', message }
  return { kind: 'none', message: ready.status === 'True' ? undefined : message }
}

export type AwaitedCommit =
  | { readonly kind: 'build'; readonly build: Build }
  | { readonly kind: 'awaited'; readonly message: string }
  /** No build of the commit will come; `isWrong`: because something is wrong. */
  | { readonly kind: 'none'; readonly message: string; readonly isWrong: boolean }

/** The build of one commit, given by its id or the beginning of it. `builds`: those of the RemoteSync, newest first. */
export function awaitedCommit(sync: Looked, builds: readonly Build[], commit: string): AwaitedCommit {
  const newest = builds.find(build => build.commit.startsWith(commit))
  const isPresent = sync.status?.commit?.startsWith(commit) === true
  const ahead = isPresent ? awaitedBuild(sync, newest) : undefined
  if (ahead?.kind === 'awaited') return ahead
  if (newest !== undefined) return { kind: 'build', build: newest }
  const ready = findCondition(sync.status?.conditions, 'Ready')
  const said = ready === undefined ? '' : `${ready.reason}: ${ready.message}`
  if (isPresent) return { kind: 'none', message: said, isWrong: ready?.status !== 'True' }
  if (ready?.reason === remoteSyncReasons.suspended) return { kind: 'none', message: said, isWrong: true }
  const at =
    sync.status?.commit === undefined
      ? said || 'it knows no commit yet'
      : `the newest that it knows is ${shortId(sync.status.commit)}`
  return { kind: 'awaited', message: `the platform has not heard of commit ${shortId(commit)} yet; ${at}` }
}

/** Enough of a commit's id for people. */
export function shortId(commit: string): string {
  return commit.slice(0, 12)
}
