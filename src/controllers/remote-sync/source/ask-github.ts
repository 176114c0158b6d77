// Asks GitHub under the grant of a RemoteSync which commit is to be deployed, and says so in the status: the repository and the
// pull request as they are now, the commit, and whether an image of it exists already. Reads only.
import type { Clock } from '../../../lib/clock.ts'
import { defined } from '../../../lib/json/defined.ts'
import { wakeOf } from '../../kit/repository/observed-wake.ts'
import type { Facts } from '../gather.ts'
import type { Halt } from '../halt.ts'
import type { LastChecks } from '../last-checks.ts'
import { findPromotion, type PromotionDeps, withPromotion } from '../promotion/promote.ts'
import {
  type ReconcileState,
  type RemoteSyncStatus,
  withoutCommit,
  withPullRequest,
  withRenamedBranch,
  withStatus,
  withTree,
  withUnbuilt,
} from '../status.ts'
import type { OpenRepository, RepositoryReader } from './open-repository.ts'
import type { FoundCommit } from './pull-request.ts'
import { findCommit } from './resolve.ts'
import { findUnbuilt } from './unchanged.ts'
import { mayRetry, signalledAt } from './wake.ts'

export type AskDeps = PromotionDeps & { readonly lastChecks: Pick<LastChecks, 'set'>; readonly clock: Clock }

export type Answered =
  | { readonly state: ReconcileState; readonly halted: Halt }
  | { readonly state: ReconcileState; readonly halted?: undefined; readonly commit: string; readonly retry: boolean }

/** The tree is needed to compare the commit with others; what a fork pushed is not compared. */
async function treeOf(
  client: RepositoryReader,
  { commit, tree, head }: FoundCommit,
  repository: number,
  { status }: ReconcileState,
): Promise<string | undefined> {
  if (status.commit === commit && status.tree !== undefined) return status.tree
  if (head === undefined || head.headRepository !== repository) return undefined
  return tree ?? (await client.commit(repository, commit))?.tree
}

function renameOf(from: string | undefined, to: string | undefined): RemoteSyncStatus['renamedBranch'] {
  // Whoever may push chooses its name; git has no bound that a status could rely on.
  return from === undefined || to === undefined || from === to ? undefined : { from, to: to.slice(0, 300).toWellFormed() }
}

/** Asks by id for the commit and for the present name, at the same time. Rejects as the client does, and as `repository` does. */
export async function askGitHub(
  deps: AskDeps,
  { remoteSync, owner, now }: Facts,
  granted: ReconcileState,
  repository: OpenRepository,
): Promise<Answered> {
  const { access, client } = await repository.open()
  const { current } = repository
  const [{ id, fullName }, found] = await Promise.all([
    current(),
    findCommit(client, remoteSync, { ...access.repository, current }, now),
  ])
  deps.lastChecks.set(owner.uid, now)
  const wake = wakeOf(remoteSync)
  const seen = withStatus(granted, {
    repository: { id, name: fullName, requested: remoteSync.spec.repository },
    ...defined({ handledWake: wake }),
  })
  const checked = withPullRequest(seen, found.head)
  if (found.kind === 'none') return { state: withoutCommit(checked), halted: found.halt }
  const { commit } = found
  const unbuilt = await findUnbuilt(client, remoteSync, id, found)
  const tree = await treeOf(client, found, id, granted)
  const promotion = unbuilt === undefined ? await findPromotion(deps, client, remoteSync, { repository: id, commit }) : undefined
  const phases = { signalledAt: signalledAt(remoteSync, now), resolvedAt: deps.clock.now().toISOString() }
  const isNew = commit !== remoteSync.status?.commit || remoteSync.status?.unbuilt?.commit === commit
  const builds = isNew && unbuilt === undefined
  const renamed = withRenamedBranch(checked, renameOf(remoteSync.spec.source.branch, found.branch?.name))
  const resolved = withTree(withUnbuilt(withStatus(renamed, builds ? { commit, phases } : { commit }), unbuilt), tree)
  const state = promotion === undefined ? resolved : withPromotion(resolved, commit, promotion)
  return { state, commit, retry: mayRetry(remoteSync) }
}
