// What this process knows of the pull requests of each AppPipeline from GitHub's last answers, so that a change of a child asks
// GitHub nothing. Deliberately not stored: after a restart every AppPipeline asks once more, which finds what was missed
// meanwhile.
import type { PullRequest } from '../../../github/index.ts'
import { BoundedMap } from '../../../lib/bounded-map.ts'
import { isSettled } from '../../kit/repository/change-times.ts'

/** What only further requests say about a commit of a pull request. */
export type Details = {
  /** The message of the commit asks for no preview. */
  readonly skips: boolean
  /** The paths of the files that the pull request changes; undefined when GitHub does not list them all, or was not asked. */
  readonly files: readonly string[] | undefined
}

/** The newest commit of a base branch. */
export type BranchTip = {
  readonly commit: string
  readonly askedAt: Date
  /** Of the list after which it was asked for. */
  readonly pushedAt: string | undefined
}

/** A value: each answer makes a new one. */
export type KnownPullRequests = {
  /** The numeric id of the repository. */
  readonly repository: number
  readonly listedAt: Date
  /** More were open than are listed. */
  readonly isCut: boolean
  /** By number: the open ones of the list, and those that were asked for one by one since. */
  readonly pulls: ReadonlyMap<number, PullRequest>
  /** The numbers that were asked for one by one since the list; without an entry in `pulls`, GitHub does not show them. */
  readonly confirmed: ReadonlySet<number>
  /** Of these, the ones that the list left out although they are open. */
  readonly missing: ReadonlySet<number>
  /** By `detailsKey`. */
  readonly details: ReadonlyMap<string, Details>
  /** By the name of the branch: those into which previews of merge commits are to be merged. */
  readonly tips: ReadonlyMap<string, BranchTip>
}

/** Beyond this many AppPipelines, the one that was listed longest ago is forgotten: it asks GitHub at its next reconcile. */
const maxPipelines = 10_000

/** uid of the AppPipeline → what is known. */
export type PullRequestMemory = Pick<Map<string, KnownPullRequests>, 'get' | 'set' | 'delete'>

// Memory (open pull requests): uid of an AppPipeline → the last complete list, and what was asked about single ones
//   life: until the next list, deletion or restart
//   bound: 10,000 AppPipelines, the one listed longest ago forgotten first; 1,000 pull requests of each, without their texts
//   freshness: webhook, periodic check, new spec, any failure
//   replicas: leader only; the next lists once
/** Empty, as after a restart. */
export function createPullRequestMemory(): PullRequestMemory {
  return new BoundedMap<KnownPullRequests>(maxPipelines)
}

/**
 * What details depend on: another commit, or another branch to go into, has others. `withFiles`: a policy with paths needs more
 * than one without, so that files that were never asked for are not taken for files that GitHub does not list.
 */
export function detailsKey({ number, headCommit, baseCommit }: PullRequest, withFiles: boolean): string {
  return `${number}/${headCommit}/${baseCommit}${withFiles ? '/files' : ''}`
}

/** Whether no push came since the tip was asked for, as far as the list says. */
export function isStillTip({ askedAt, pushedAt }: BranchTip, pull: PullRequest): boolean {
  return isSettled({ at: askedAt, time: pushedAt }, pull.pushedAt)
}

/** What is known after a new list: details of pull requests that are still there are kept, confirmations are not. */
export function relisted(
  list: Pick<KnownPullRequests, 'repository' | 'listedAt' | 'isCut' | 'pulls'>,
  before: KnownPullRequests | undefined,
): KnownPullRequests {
  const keys = new Set([...list.pulls.values()].flatMap(pull => [detailsKey(pull, true), detailsKey(pull, false)]))
  const former = before?.repository === list.repository ? [...before.details] : []
  const details = new Map(former.filter(([key]) => keys.has(key)))
  const tips = before?.repository === list.repository ? before.tips : new Map()
  return { ...list, confirmed: new Set(), missing: new Set(), details, tips }
}
