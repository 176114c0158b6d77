// The shape of repositories and of everything that belongs to one. The commits are in the bare git repository on disk, named by
// the repository's id; the state repeats nothing that git knows, except the commits of a pull request.
import type { RepositoryRole } from './accounts.ts'

export type Repository = {
  readonly id: number
  ownerId: number
  name: string
  description: string | null
  private: boolean
  archived: boolean
  defaultBranch: string
  collaborators: { readonly userId: number; role: RepositoryRole }[]
  readonly createdAt: string
  updatedAt: string
  pushedAt: string
  /** Former name of a branch → the name that it was given; it redirects until another branch has it. */
  formerBranches?: Readonly<Record<string, string>>
  /** Issues and pull requests of a repository share one sequence of numbers. */
  lastNumber: number
  /** The repository from which this one was forked; it may have been deleted. */
  readonly parentId: number | null
}

type Given = Pick<Repository, 'id' | 'ownerId' | 'name' | 'description' | 'private' | 'createdAt'>

/** An empty repository without collaborators and pull requests; `more` sets what differs. */
export function newRepository(given: Given, more: Partial<Repository> = {}): Repository {
  return {
    archived: false,
    defaultBranch: 'main',
    collaborators: [],
    updatedAt: given.createdAt,
    pushedAt: given.createdAt,
    lastNumber: 0,
    parentId: null,
    ...given,
    ...more,
  }
}

/** A former name of a repository; it leads to the repository until another one takes the name. Lower case. */
export type RepositoryRedirect = { readonly owner: string; readonly name: string; readonly repositoryId: number }

export type PullRequest = {
  readonly id: number
  readonly repositoryId: number
  readonly number: number
  title: string
  body: string | null
  readonly authorId: number
  state: 'open' | 'closed'
  draft: boolean
  head: { readonly repositoryId: number; readonly ref: string; sha: string }
  base: { ref: string; sha: string }
  /** Ids of labels of the repository, in the order in which they were added. */
  labelIds: number[]
  /**
   * The last test whether head and base can be merged; `null` before the first one. It is outdated after a push to one of them.
   */
  mergeTest: MergeTest | null
  mergedAt: string | null
  mergedById: number | null
  /** The commit that the merge made. */
  mergeCommitSha: string | null
  readonly createdAt: string
  updatedAt: string
  closedAt: string | null
}

export type MergeTest = {
  /** The commits that were tested. */
  readonly base: string
  readonly head: string
  /** False when they conflict. */
  readonly mergeable: boolean
  /** The commit at `refs/pull/<number>/merge`: of an earlier test when they conflict, `null` when no test has made one. */
  readonly commit: string | null
}

export type Label = { readonly id: number; readonly repositoryId: number; readonly name: string }

export const reviewStates = ['APPROVED', 'CHANGES_REQUESTED', 'COMMENTED'] as const
export type ReviewState = (typeof reviewStates)[number]

export type Review = {
  readonly id: number
  readonly repositoryId: number
  readonly number: number
  readonly authorId: number
  readonly body: string
  readonly state: ReviewState
  /** The head that was reviewed. */
  readonly commitId: string
  readonly submittedAt: string
}

export type IssueComment = {
  readonly id: number
  readonly repositoryId: number
  readonly number: number
  readonly authorId: number
  body: string
  readonly createdAt: string
  updatedAt: string
}

export const commitStates = ['error', 'failure', 'pending', 'success'] as const
export type CommitState = (typeof commitStates)[number]

export type CommitStatus = {
  readonly id: number
  readonly repositoryId: number
  readonly sha: string
  readonly state: CommitState
  readonly context: string
  readonly description: string | null
  readonly targetUrl: string | null
  readonly creatorId: number
  readonly createdAt: string
}

export type Deployment = {
  readonly id: number
  readonly repositoryId: number
  readonly sha: string
  readonly ref: string
  readonly task: string
  readonly environment: string
  readonly description: string | null
  readonly payload: string
  readonly transient: boolean
  readonly production: boolean
  readonly creatorId: number
  readonly createdAt: string
  updatedAt: string
}

/** GitHub makes one of any name that a deployment has, and keeps it until a person deletes it. */
export type DeploymentEnvironment = { readonly repositoryId: number; readonly name: string }

export const deploymentStates = ['error', 'failure', 'inactive', 'in_progress', 'queued', 'pending', 'success'] as const
export type DeploymentState = (typeof deploymentStates)[number]

export type DeploymentStatus = {
  readonly id: number
  readonly deploymentId: number
  readonly state: DeploymentState
  readonly description: string
  readonly environment: string
  readonly environmentUrl: string
  readonly logUrl: string
  readonly creatorId: number
  readonly createdAt: string
}
