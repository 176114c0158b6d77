// When a pull request was last active: it was opened, or got another commit. Comments do not count, because anybody writes
// them, the platform included. Pure.
import type { AppPipeline } from '../../api/apps/app-pipeline.ts'
import type { PullRequest } from '../../github/index.ts'

export type Row = NonNullable<NonNullable<AppPipeline['status']>['previews']>[number]

/** RFC 3339. GitHub does not say when a commit was pushed: what the last status says holds until the commit changes. */
export function activityOf({ headCommit, updatedAt }: PullRequest, row: Row | undefined, now: Date): string {
  if (row?.headCommit === headCommit) return row.activeAt
  if (row !== undefined) return now.toISOString()
  const time = Date.parse(updatedAt)
  return (Number.isNaN(time) ? now : new Date(Math.min(time, now.getTime()))).toISOString()
}
