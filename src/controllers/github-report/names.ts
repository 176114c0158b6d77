// The names of reports: they follow from what is reported on, so that a crash between creating one and anything else leaves no second one. Pure.
import { createHash } from 'node:crypto'
import type { GitHubReport } from '../../api/apps/github-report.ts'
import type { Installation } from '../../api/github/installation.ts'

type ReportedKind = GitHubReport['spec']['follower']['kind']

const longestName = 253

/** `<kind>-<name>` with the name of the preview or RemoteSync; a hash replaces the end of a name that is too long. */
export function reportName(kind: ReportedKind, name: string): string {
  const full = `${kind.toLowerCase()}-${name}`
  if (full.length <= longestName) return full
  return `${full.slice(0, longestName - 13)}-${createHash('sha256').update(full).digest('hex').slice(0, 12)}`
}

/** Names an installation: ids are unique for each App and host. */
export function installationText({ account, app, installationId }: Installation['spec']): string {
  return `${account.host}/${app}/${installationId}`
}
