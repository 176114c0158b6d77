// Which other Apps of the pool are installed on the account, too, by what GitHub says to those Apps themselves. It binds nothing:
// an owner does, on the page of the tenant, after a proof (src/broker/owners/bind-app.ts).
import type { ClusterGitHubApp } from '../../api/github/cluster-github-app.ts'
import type { Installation } from '../../api/github/installation.ts'
import { messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { compareText } from '../../lib/text/compare-text.ts'
import { appOfInstallation, type GitHubApps } from '../../services/token-desk/app-clients.ts'
import type { InstallationDirectory } from './installation-directory.ts'

export type OtherAppsDeps = {
  readonly githubApps: GitHubApps
  readonly directory: Pick<InstallationDirectory, 'onAccount'>
  /** The names of the other ClusterGitHubApps in the pool of this one. */
  readonly poolOf: (appName: string) => readonly string[]
  readonly log: Log
}

export type OtherApps = NonNullable<NonNullable<Installation['status']>['otherApps']>

/** As many as a status holds. */
const maxApps = 10

/** The names of the other Apps on the same host whose pool is the same; none without a pool. */
export function appsOfPool(name: string, apps: readonly ClusterGitHubApp[]): readonly string[] {
  const own = apps.find(({ metadata }) => metadata.name === name)
  if (own?.spec.pool === undefined) return []
  const { pool, host, appId } = own.spec
  return apps
    .filter(({ spec }) => spec.pool === pool && spec.host === host && spec.appId !== appId)
    .map(({ metadata }) => metadata.name)
    .toSorted(compareText)
}

/** Of one that does not answer, what was known before. Never throws. */
export async function otherAppsOf(deps: OtherAppsDeps, { spec, status }: Installation): Promise<OtherApps> {
  const found: OtherApps[number][] = []
  for (const name of deps.poolOf(spec.app).slice(0, maxApps)) {
    try {
      const app = await appOfInstallation(deps.githubApps, { ...spec, app: name })
      const there = await deps.directory.onAccount(app, spec.account)
      if (there === undefined || there.appId !== app.appId || there.suspendedAt !== undefined) continue
      found.push({ app: name, installationId: there.id, permissions: { ...there.permissions } })
    } catch (error) {
      deps.log.info({ app: name, reason: messageOf(error) }, 'an App of a pool does not say where it is installed')
      found.push(...(status?.otherApps ?? []).filter(({ app }) => app === name))
    }
  }
  return found
}
