// What the broker needs of GitHub: the facts of the App people sign in with (from its ClusterGitHubApp) and the doors for people.
// Holds the client secret; never an App key, never an installation token.
import { type ClusterGitHubApp, clusterGitHubApp } from '../api/cluster-github-app.ts'
import {
  createOAuthDoor,
  createUserDoor,
  endpointsOf,
  type GitHubEndpoints,
  type OAuthDoor,
  type UserDoor,
} from '../github/index.ts'
import type { KubeClient } from '../kube/client.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { SecretString } from '../lib/secret-string.ts'

export type GitHubAppFacts = {
  /** The name of the ClusterGitHubApp. */
  readonly name: string
  readonly endpoints: GitHubEndpoints
  readonly appId: number
  readonly clientId: string
  /** Known once the controllers verified the App. */
  readonly slug: string | undefined
}

export type BrokerGitHub = {
  /** Throws `unavailable` while the ClusterGitHubApp does not exist. */
  readonly app: () => Promise<GitHubAppFacts>
  readonly oauth: () => Promise<OAuthDoor>
  readonly userDoor: (token: SecretString) => Promise<UserDoor>
}

export type BrokerGitHubDeps = {
  readonly appName: string
  readonly clientSecret: SecretString
  readonly kube: Pick<KubeClient, 'get'>
  readonly log: Log
  readonly clock: Clock
}

const freshForMilliseconds = 5000

function factsOf(app: ClusterGitHubApp): GitHubAppFacts {
  const { spec, status, metadata } = app
  const { host, endpoints } = spec
  return {
    name: metadata.name,
    endpoints: endpointsOf(endpoints === undefined ? { host } : { host, endpoints }),
    appId: spec.appId,
    clientId: spec.clientId,
    slug: status?.slug,
  }
}

export function createBrokerGitHub(deps: BrokerGitHubDeps): BrokerGitHub {
  let known: { readonly facts: GitHubAppFacts; readonly readAt: number } | undefined

  const app = async (): Promise<GitHubAppFacts> => {
    const now = deps.clock.now().getTime()
    if (known !== undefined && known.facts.slug !== undefined && now - known.readAt < freshForMilliseconds) return known.facts
    const found = await deps.kube.get(clusterGitHubApp, { name: deps.appName })
    if (found === undefined)
      throw new AppError(
        'unavailable',
        `the ClusterGitHubApp ${deps.appName} does not exist yet: a platform admin has to create it`,
      )
    known = { facts: factsOf(found), readAt: now }
    return known.facts
  }

  return {
    app,
    async oauth() {
      const { endpoints, clientId } = await app()
      return createOAuthDoor({ endpoints, clientId, clientSecret: deps.clientSecret })
    },
    async userDoor(token) {
      const { endpoints } = await app()
      return createUserDoor({ endpoints, token, log: deps.log, clock: deps.clock })
    },
  }
}
