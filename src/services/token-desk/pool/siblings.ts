// The siblings of an Installation: others in its namespace for the same account, each bound with a proof of its own, whose Apps
// are in the same pool on the same host. They make tokens under the grants that name it, so that the limits of several Apps serve
// one account (docs/adr/0097-a-pool-of-apps.md). What an Installation lets grants reach is never wider than without them.
import type { Installation } from '../../../api/github/installation.ts'
import { isAppError, messageOf } from '../../../lib/errors.ts'
import type { Log } from '../../../lib/log.ts'
import { compareText } from '../../../lib/text/compare-text.ts'
import { defaultTokenSeconds } from '../../../policy/grants/token-lifetime.ts'
import type { TokenSubject } from '../../../store/token-registry.ts'
import type { GitHubApp, GitHubApps } from '../app-clients.ts'

/** An Installation and its App, which can be used. */
export type Bound = { readonly installation: Installation; readonly app: GitHubApp }

/**
 * Only workloads: what the platform itself writes, such as the comments of reports, stays under the name of one App, and what it
 * reads is remembered for one.
 */
export function isForPool({ kind }: TokenSubject): boolean {
  return defaultTokenSeconds(kind) < 3600
}

/**
 * Those of `others`, in a stable order. An App that cannot be used, for whatever reason, is no sibling: the named Installation
 * goes on without it.
 */
export async function siblingsOf(
  { githubApps, log }: { readonly githubApps: GitHubApps; readonly log: Log },
  named: Bound,
  others: readonly Installation[],
): Promise<readonly Bound[]> {
  if (named.app.pool === undefined) return []
  const found: Bound[] = []
  for (const installation of others.filter(other => isOfSameAccount(named.installation, other))) {
    const app = await usableApp(githubApps, installation.spec.app, log)
    if (app !== undefined && isOfSamePool(named.app, app)) found.push({ installation, app })
  }
  return found.toSorted((a, b) => compareText(a.installation.metadata.name, b.installation.metadata.name))
}

async function usableApp(githubApps: GitHubApps, name: string, log: Log): Promise<GitHubApp | undefined> {
  try {
    return await githubApps.get(name)
  } catch (error) {
    const isExpected = isAppError(error, 'not_found') || isAppError(error, 'invalid_configuration')
    if (!isExpected) log.error({ app: name, error: messageOf(error) }, 'failed to open an App of a pool')
    return undefined
  }
}

/** By numbers; a login may pass to another account. */
function isOfSameAccount({ metadata, spec }: Installation, other: Installation): boolean {
  const { host, id, type } = other.spec.account
  if (other.metadata.namespace !== metadata.namespace || other.metadata.name === metadata.name) return false
  return host === spec.account.host && id === spec.account.id && type === spec.account.type
}

/** Another App: the same one has no other limit. */
function isOfSamePool(named: GitHubApp, app: GitHubApp): boolean {
  const { host, api, web } = app.endpoints
  const isOfSameHost = host === named.endpoints.host && api === named.endpoints.api && web === named.endpoints.web
  return app.pool === named.pool && isOfSameHost && app.appId !== named.appId
}
