// Asks GitHub for the open pull requests, and for the branches into which merge commits go. Reads only.
import { followedRepository } from '../../../api/capabilities/repository-follower.ts'
import { AppError } from '../../../lib/errors.ts'
import type { Facts } from '../gather.ts'
import { type BranchTip, isStillTip, type KnownPullRequests, relisted } from '../pull-requests/known.ts'
import { listOpen } from '../pull-requests/list.ts'
import { type AskDeps, type Asked, type Opened, openRepository, readable } from './open-repository.ts'

/**
 * The newest commits of the branches into which previews of merge commits are to be merged: a push to them makes other merge
 * commits. A branch that GitHub does not show has none: nothing is known about it.
 */
async function tipsOf(
  { clock }: AskDeps,
  { pipeline, previews }: Facts,
  { reader, repository }: Opened,
  listed: KnownPullRequests,
): Promise<ReadonlyMap<string, BranchTip>> {
  if (pipeline.spec.template.source !== 'Merge') return new Map()
  const tips = new Map<string, BranchTip>()
  for (const pull of listed.pulls.values()) {
    const { baseBranch, number, pushedAt } = pull
    if (previews.get(number)?.repository !== repository.id || tips.has(baseBranch)) continue
    const before = listed.tips.get(baseBranch)
    if (before !== undefined && isStillTip(before, pull)) {
      tips.set(baseBranch, before)
      continue
    }
    const askedAt = clock.now()
    const commit = await readable(reader.branch(repository.id, baseBranch), undefined)
    if (commit !== undefined) tips.set(baseBranch, { commit, askedAt, pushedAt })
  }
  return tips
}

/** What is known after a complete list. @throws AppError when GitHub does not give one */
export async function listPullRequests(deps: AskDeps, facts: Facts, asked: Asked): Promise<KnownPullRequests> {
  const { pipeline, known } = facts
  const opened = await openRepository(deps, asked)
  const { reader, repository } = opened
  const followed = followedRepository(pipeline)
  if (followed !== undefined && followed.id !== repository.id)
    throw new AppError('integrity_violation', `the token reaches repository ${repository.id} instead of ${followed.id}`)
  const listedAt = deps.clock.now()
  const found = await listOpen(reader, repository, asked.signal)
  const listed = relisted({ repository: repository.id, listedAt, ...found }, known)
  return { ...listed, tips: await tipsOf(deps, facts, opened, listed) }
}
