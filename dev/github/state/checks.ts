// The shape of check suites and check runs. Only Apps write checks.

export const checkStatuses = ['queued', 'in_progress', 'completed'] as const
export type CheckStatus = (typeof checkStatuses)[number]

export const checkConclusions = ['success', 'failure', 'neutral', 'cancelled', 'skipped', 'timed_out', 'action_required'] as const
export type CheckConclusion = (typeof checkConclusions)[number]

/** All runs of one App on one commit, whose status and conclusion follow from its runs. */
export type CheckSuite = {
  readonly id: number
  readonly repositoryId: number
  readonly appId: number
  readonly headSha: string
  readonly headBranch: string | null
  readonly before: string | null
  readonly createdAt: string
  updatedAt: string
}

export type CheckRun = {
  readonly id: number
  readonly suiteId: number
  readonly repositoryId: number
  name: string
  externalId: string | null
  detailsUrl: string | null
  status: CheckStatus
  conclusion: CheckConclusion | null
  startedAt: string
  completedAt: string | null
  title: string | null
  summary: string | null
  text: string | null
}
