// The names of reports: they follow from what is reported on, so that a crash between creating one and anything else leaves no
// second one. Pure.
import type { GitHubReport } from '../../api/apps/github-report.ts'
import type { Installation } from '../../api/github/installation.ts'
import { boundedName } from '../../lib/text/bounded-name.ts'

type ReportedKind = GitHubReport['spec']['follower']['kind']

const maxName = 253

/** `<kind>-<name>` with the name of the preview or RemoteSync; a hash replaces the end of a name that is too long. */
export function reportName(kind: ReportedKind, name: string): string {
  return boundedName(`${kind.toLowerCase()}-${name}`, maxName)
}

/** Names an installation: ids are unique for each App and host. */
export function installationText({ account, app, installationId }: Installation['spec']): string {
  return `${account.host}/${app}/${installationId}`
}
