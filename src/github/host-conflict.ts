// Where a GitHub host is. Ids, tokens and people are known by the name of their host, so all Apps of a host must name the same
// addresses: otherwise what belongs to one server would be sent to another. The oldest App of a host says where it is. Pure.
import type { ClusterGitHubApp } from '../api/github/cluster-github-app.ts'
import { compareText } from '../lib/text/compare-text.ts'
import { endpointsOf, type GitHubEndpoints } from './endpoints.ts'

type App = Pick<ClusterGitHubApp, 'metadata' | 'spec'>

/** Why the App cannot be used beside the older ones; undefined when it can. */
export function hostConflict(app: App, apps: readonly App[]): string | undefined {
  const oldest = oldestOn([app, ...apps.filter(({ metadata }) => metadata.name !== app.metadata.name)], app.spec.host)
  if (oldest === undefined || oldest.metadata.name === app.metadata.name) return undefined
  const [own, known] = [endpointsOfApp(app), endpointsOfApp(oldest)]
  if (own.web === known.web && own.api === known.api) return undefined
  return `spec.endpoints says that ${app.spec.host} is at ${own.api}, and by the older ClusterGitHubApp ${oldest.metadata.name} it is at ${known.api}: a host is one server, so create the App again with another spec.host or the same spec.endpoints`
}

/** The addresses of its host, as the App says. */
export function endpointsOfApp({ spec }: Pick<App, 'spec'>): GitHubEndpoints {
  const { host, endpoints } = spec
  return endpointsOf(endpoints === undefined ? { host } : { host, endpoints })
}

function oldestOn(apps: readonly App[], host: string): App | undefined {
  return apps.filter(({ spec }) => spec.host === host).toSorted((a, b) => byAge(a, b))[0]
}

/** An App without a time was never stored and is younger than all. */
function byAge({ metadata: a }: App, { metadata: b }: App): number {
  const [x = '9', y = '9'] = [a.creationTimestamp, b.creationTimestamp]
  return compareText(x, y) || compareText(a.name, b.name)
}
