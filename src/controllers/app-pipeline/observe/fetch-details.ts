// Asks GitHub what a choice needs: the list of open pull requests, and then, one by one, what is in doubt. Reads only. GitHub is asked for nothing
// that the memory knows, so that a change of a child costs no request.
import { followedRepository } from '../../../api/repository-follower.ts'
import type { PullRequest, PullRequestClient } from '../../../github/index.ts'
import type { Clock } from '../../../lib/clock.ts'
import { AppError, isAppError } from '../../../lib/errors.ts'
import type { Refusal } from '../../kit/refusal.ts'
import type { RepositoryAccess } from '../../kit/repository/owned-grant.ts'
import { type Choice, choose, hasNeeds } from '../choose.ts'
import { haltOf } from '../decide.ts'
import type { Facts } from '../gather.ts'
import { type BranchTip, type Details, detailsKey, isStillTip, type KnownPullRequests, relisted } from '../pull-requests/known.ts'
import { listOpen } from '../pull-requests/list.ts'

export type AskDeps = {
  /** `installation` is the id of the installation under which the token was requested. */
  readonly openPullRequests: (access: RepositoryAccess, installation: number) => PullRequestClient
  readonly clock: Clock
}

/** The repository of one reconcile; the token is requested when it is first needed. */
export type Asked = {
  readonly access: () => Promise<RepositoryAccess>
  readonly installationId: number
  readonly signal: AbortSignal
}

type Opened = { readonly reader: PullRequestClient; readonly repository: RepositoryAccess['repository'] }

async function open({ openPullRequests }: AskDeps, { access, installationId }: Asked): Promise<Opened> {
  const opened = await access()
  return { reader: openPullRequests(opened, installationId), repository: opened.repository }
}

/**
 * The newest commits of the branches into which previews of merge commits are to be merged: a push to them makes other merge commits. A branch that GitHub
 * does not show has none: nothing is known about it.
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
export async function list(deps: AskDeps, facts: Facts, asked: Asked): Promise<KnownPullRequests> {
  const { pipeline, known } = facts
  const opened = await open(deps, asked)
  const { reader, repository } = opened
  const followed = followedRepository(pipeline)
  if (followed !== undefined && followed.id !== repository.id)
    throw new AppError('integrity_violation', `the token reaches repository ${repository.id} instead of ${followed.id}`)
  const listedAt = deps.clock.now()
  const found = await listOpen(reader, repository, asked.signal)
  const listed = relisted({ repository: repository.id, listedAt, ...found }, known)
  return { ...listed, tips: await tipsOf(deps, facts, opened, listed) }
}

type Known = Facts & { readonly known: KnownPullRequests }

/** What one answer adds. */
type Learned = (known: KnownPullRequests) => KnownPullRequests

const added = <K, V>(map: ReadonlyMap<K, V>, key: K, value: V): ReadonlyMap<K, V> => new Map([...map, [key, value]])

async function confirm({ reader, repository }: Opened, number: number): Promise<Learned> {
  const pull = await reader.pullRequest(repository.id, number)
  return known => {
    const pulls = new Map(known.pulls)
    // The list may have shown what its own answer does not.
    if (pull === undefined) pulls.delete(number)
    else pulls.set(number, pull)
    const isMissing = pull?.state === 'open' && !known.isCut && !known.pulls.has(number)
    const missing = isMissing ? new Set([...known.missing, number]) : known.missing
    return { ...known, pulls, missing, confirmed: new Set([...known.confirmed, number]) }
  }
}

/** A commit whose message or files cannot be read excludes nothing: its author must not be able to stop other previews by it. */
async function readDetails({ reader, repository }: Opened, pull: PullRequest, withFiles: boolean): Promise<Learned> {
  const [skips, files] = await Promise.all([
    readable(reader.commitSkips(repository.id, pull.headCommit), false),
    withFiles ? readable(reader.filesOf(repository.id, pull), undefined) : undefined,
  ])
  const details: Details = { skips, files }
  return known => ({ ...known, details: added(known.details, detailsKey(pull, withFiles), details) })
}

/** Rejects only when GitHub is unreachable or limits requests, which is about no single pull request. */
async function readable<T>(asked: Promise<T>, otherwise: T): Promise<T> {
  try {
    return await asked
  } catch (error) {
    if (isAppError(error) && ['not_found', 'upstream_failed', 'integrity_violation'].includes(error.code)) return otherwise
    throw error
  }
}

/**
 * The choice, when GitHub was asked what it needs. An answer that does not come leaves the choice as it is without it: what is in doubt stays.
 * @throws KubeError and defects only
 */
export async function learn(
  deps: AskDeps,
  facts: Known,
  asked: Asked,
): Promise<{ readonly known: KnownPullRequests; readonly choice: Choice; readonly halt: Refusal | undefined }> {
  const withFiles = facts.pipeline.spec.policy.paths !== undefined
  let { known } = facts
  let choice = choose(facts, known)
  try {
    while (hasNeeds(choice)) {
      const opened = await open(deps, asked)
      const { needs } = choice
      const questions = [
        ...needs.confirm.map(number => () => confirm(opened, number)),
        ...needs.details.map(pull => () => readDetails(opened, pull, withFiles)),
      ]
      for (const question of questions) {
        asked.signal.throwIfAborted()
        known = (await question())(known)
      }
      choice = choose(facts, known)
    }
    return { known, choice, halt: undefined }
  } catch (error) {
    return { known, choice: choose(facts, known), halt: haltOf(error) }
  }
}
