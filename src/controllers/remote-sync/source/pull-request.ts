// Which commit of a pull request is deployed: its head, or the commit that GitHub made by merging it into its base branch. That
// one is taken only when it is made of the present head and the present base: GitHub computes it some time after a push, and
// shows the former one until then.
// Source: https://docs.github.com/en/rest/pulls/pulls#get-a-pull-request (`mergeable`, `merge_commit_sha`)
import { type RemoteSync, remoteSyncReasons as reasons } from '../../../api/apps/remote-sync.ts'
import type { BranchHead, RepositoryClient } from '../../../github/index.ts'
import { defined } from '../../../lib/json/defined.ts'
import { printable } from '../../../lib/text/printable.ts'
import { settlingMilliseconds } from '../../kit/repository/change-times.ts'
import { type Halt, halt } from '../halt.ts'
import type { RemoteSyncStatus } from '../status.ts'

/** The branch that is followed, where one is. */
export type FollowedBranch = Pick<BranchHead, 'name' | 'skips'>

export type PullRequestReader = Pick<RepositoryClient, 'branch' | 'pullRequest' | 'commit'>
type Facts = NonNullable<Awaited<ReturnType<PullRequestReader['pullRequest']>>>

/** The pull request as the status shows it. */
export type FollowedHead = NonNullable<RemoteSyncStatus['pullRequest']>

/** `tree`: where it was read anyway. */
export type FoundCommit = {
  readonly kind: 'commit'
  readonly commit: string
  readonly tree?: string | undefined
  readonly head?: FollowedHead
  readonly branch?: FollowedBranch
}
export type NoCommit = { readonly kind: 'none'; readonly halt: Halt; readonly head?: FollowedHead }

export type Asked = {
  readonly repository: { readonly id: number; readonly fullName: string }
  readonly source: RemoteSync['spec']['source']
  /** What the status says of the pull request so far. */
  readonly before: FollowedHead | undefined
  readonly now: Date
}

const maxBranch = 300
const shortestWait = 1_000
const maxWait = 300_000

/** How long until GitHub is asked again: as long as it has been waited for so far. Webhooks may come earlier. */
export function mergeWait(since: string, now: Date): number {
  const waited = now.getTime() - Date.parse(since)
  return Math.min(Math.max(waited, shortestWait), maxWait)
}

function none(head: FollowedHead | undefined, refused: Halt): NoCommit {
  return { kind: 'none', halt: refused, ...defined({ head }) }
}

function refusal(reason: string, text: string): Halt {
  return halt('Resolved', reason, `spec.source.pullRequest: ${text}`)
}

/**
 * When the answer about a conflict is certain: until then GitHub may say of these two commits what it computed of former ones.
 */
export function settledAt(conflictSince: string): number {
  return Date.parse(conflictSince) + settlingMilliseconds
}

/**
 * A conflict of two commits stays one: it is asked about once more when the answer is certain, and then waits for another head
 * or base.
 */
export function mergeConflict({ number, baseBranch, conflictSince }: FollowedHead, now: Date): Halt {
  const text = `pull request ${number} conflicts with branch ${printable(baseBranch)}: resolve the conflict on its branch and push`
  const conflict = refusal(reasons.mergeConflict, text)
  const rest = conflictSince === undefined ? 0 : settledAt(conflictSince) - now.getTime()
  return rest > 0 ? { ...conflict, requeueAfterMilliseconds: rest } : conflict
}

/** `number`: of the pull request. Rejects as the client does. */
export async function findPullRequestCommit(
  client: PullRequestReader,
  number: number,
  asked: Asked,
): Promise<FoundCommit | NoCommit> {
  const { id, fullName } = asked.repository
  const found = await client.pullRequest(id, number)
  if (found?.baseRepositoryId !== id)
    return none(undefined, refusal(reasons.pullRequestNotFound, `${fullName} has no pull request ${number}`))
  const { headSha, headRepositoryId, baseBranch } = found
  const head: FollowedHead = {
    number,
    headCommit: headSha,
    ...defined({ headRepository: headRepositoryId }),
    // Whoever may push chooses its name; git has no bound that a status could rely on.
    baseBranch: baseBranch.slice(0, maxBranch).toWellFormed(),
  }
  if (found.state !== 'open')
    return none(
      head,
      refusal(reasons.pullRequestClosed, `pull request ${number} is closed: follow a branch, or delete this RemoteSync`),
    )
  if (asked.source.mergeCommit !== true) return { kind: 'commit', commit: headSha, head }
  return mergeOf(client, found, head, asked)
}

async function mergeOf(
  client: PullRequestReader,
  found: Facts,
  head: FollowedHead,
  asked: Asked,
): Promise<FoundCommit | NoCommit> {
  const { before, now, repository } = asked
  const { number, baseBranch } = head
  if (found.mergeable === false) {
    const base = await client.branch(repository.id, found.baseBranch)
    const isKnown = before?.number === number && before.headCommit === head.headCommit && before.baseCommit === base
    const conflictSince = (isKnown ? before.conflictSince : undefined) ?? now.toISOString()
    const conflicting = { ...head, ...defined({ baseCommit: base }), conflictSince }
    return none(conflicting, mergeConflict(conflicting, now))
  }
  const { mergeCommit } = found
  if (found.mergeable === true && mergeCommit !== undefined) {
    const [base, merge] = await Promise.all([
      client.branch(repository.id, found.baseBranch),
      client.commit(repository.id, mergeCommit),
    ])
    const [first, second, ...more] = merge?.parents ?? []
    if (base !== undefined && first === base && second === head.headCommit && more.length === 0)
      return { kind: 'commit', commit: mergeCommit, tree: merge?.tree, head: { ...head, baseCommit: base } }
  }
  const since = (before?.number === number ? before.mergePendingSince : undefined) ?? now.toISOString()
  const text = `GitHub has not computed yet what merging pull request ${number} into ${baseBranch} gives: the platform asks again`
  const pending = halt('Resolved', reasons.mergePending, text, { requeueAfterMilliseconds: mergeWait(since, now) })
  return none({ ...head, mergePendingSince: since }, pending)
}
