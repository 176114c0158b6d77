// What the broker needs of GitHub: the facts of the App that people sign in with (from its ClusterGitHubApp), and the clients
// for people. Holds the client secret; never an App key, never an installation token.
import type { ClusterGitHubApp } from '../api/github/cluster-github-app.ts'
import {
  createOAuthClient,
  createRepositoryClient,
  createUserClient,
  endpointsOfApp,
  type GitHubEndpoints,
  type GitHubObserver,
  hostConflict,
  type OAuthClient,
  type RepositoryClient,
  type UserClient,
} from '../github/index.ts'
import type { Cache } from '../kube/cache/object-cache.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { SecretString } from '../lib/secret-string.ts'
import type { OurApps } from './webhooks/delivering-app.ts'

export type GitHubAppFacts = {
  /** The name of the ClusterGitHubApp. */
  readonly name: string
  readonly endpoints: GitHubEndpoints
  readonly appId: number
  readonly clientId: string
  /** Undefined until the controllers have verified the App. */
  readonly slug: string | undefined
}

export type BrokerGitHub = {
  /**
   * Throws `unavailable` while the ClusterGitHubApp does not exist, `invalid_configuration` when it cannot be used; so do the
   * others.
   */
  readonly app: () => GitHubAppFacts
  /** The App, and every ClusterGitHubApp on its host: whose webhooks are ours. */
  readonly ourApps: () => OurApps
  /** The client that exchanges codes, for a sign-in at the App's host. */
  readonly oauth: () => OAuthClient
  /** The client that refreshes tokens of `host`. Throws as `userClient`. */
  readonly oauthOf: (host: string) => OAuthClient
  /**
   * The client to GitHub as the person whom the token belongs to. Throws `unauthenticated` when the App is on another host than
   * the token: a token must never be sent to a host that did not issue it.
   */
  readonly userClient: (host: string, token: SecretString) => UserClient
  /** The same for repositories, of which it reads what the person and the App may both read. */
  readonly repositoryClient: (host: string, token: SecretString) => RepositoryClient
}

export type BrokerGitHubDeps = {
  readonly appName: string
  readonly clientSecret: SecretString
  readonly apps: Cache<ClusterGitHubApp>
  /** Of requests in the name of people. */
  readonly observe: GitHubObserver
  readonly log: Log
  readonly clock: Clock
}

function factsOf(app: ClusterGitHubApp): GitHubAppFacts {
  const { appId, clientId } = app.spec
  return { name: app.metadata.name, endpoints: endpointsOfApp(app), appId, clientId, slug: app.status?.slug }
}

/** Clients of the App that `settings` name; the App's object is read at each call, so a change needs no restart. */
export function createBrokerGitHub(deps: BrokerGitHubDeps): BrokerGitHub {
  const { appName, clientSecret, apps, observe, log, clock } = deps
  const app = (): GitHubAppFacts => {
    const found = apps.get({ name: appName })
    const conflict = found && hostConflict(found, apps.list())
    if (conflict !== undefined) throw new AppError('invalid_configuration', `ClusterGitHubApp ${appName}: ${conflict}`)
    if (found !== undefined) return factsOf(found)
    throw new AppError('unavailable', `the ClusterGitHubApp ${appName} does not exist yet: a platform admin has to create it`)
  }
  const appOn = (host: string): GitHubAppFacts => {
    const facts = app()
    if (facts.endpoints.host === host) return facts
    throw new AppError(
      'unauthenticated',
      `you signed in at ${host}, and the platform uses ${facts.endpoints.host} now: sign in again`,
    )
  }
  const oauthWith = ({ endpoints, clientId }: GitHubAppFacts): OAuthClient =>
    createOAuthClient({ endpoints, clientId, clientSecret })
  return {
    app,
    ourApps() {
      const { endpoints, appId } = app()
      const here = apps.list().filter(({ spec }) => spec.host === endpoints.host)
      return { endpoints, signInAppId: appId, appIds: new Set(here.map(({ spec }) => spec.appId)) }
    },
    oauth: () => oauthWith(app()),
    oauthOf: host => oauthWith(appOn(host)),
    userClient: (host, token) => createUserClient({ endpoints: appOn(host).endpoints, token, observe, log, clock }),
    repositoryClient: (host, token) => createRepositoryClient({ endpoints: appOn(host).endpoints, token, observe, log, clock }),
  }
}
