// Whether a RemoteSync is behind what GitHub shows the AppPipeline. Pure.
import type { RemoteSync } from '../../../api/apps/remote-sync.ts'
import { headOf } from '../../kit/owned-application/state.ts'
import type { BranchTip } from '../pull-requests/known.ts'

/**
 * Whether the RemoteSync does not know the newest commit of the pull request, or runs a merge commit that was made of another
 * commit than `tip`, or is in conflict with another one. While it waits for a merge commit it asks by itself, and what it
 * resolved after the tip was asked for is newer.
 */
export function isBehind(remoteSync: RemoteSync, headCommit: string, tip: BranchTip | undefined): boolean {
  const known = headOf(remoteSync)
  if (known === undefined) return false
  if (known !== headCommit) return true
  const { pullRequest, phases } = remoteSync.status ?? {}
  const { baseCommit, conflictSince } = pullRequest ?? {}
  if (tip === undefined || baseCommit === undefined || baseCommit === tip.commit) return false
  return !(Date.parse(conflictSince ?? phases?.resolvedAt ?? '') > tip.askedAt.getTime())
}
