// A token desk whose GitHub misbehaves: the desk, the App's door and the registry as they are in the product, the emulator behind a proxy, and
// one clock for all of them that the test moves. Grants and Installation are given: their controllers are not what fails here.
import { installApp } from '../../../dev/github/actions/install-app.ts'
import { type RunningEmulator, startEmulator } from '../../../dev/github/emulator.ts'
import type { Installation as GitHubInstallation } from '../../../dev/github/state/apps.ts'
import { repositoryGrant } from '../../../src/api/repository-grant.ts'
import { createTokenDesk, type DeliveredToken } from '../../../src/controllers/token-desk/index.ts'
import { grantObject, host, installationObject, runner } from '../../../src/controllers/token-desk/testing/desk-objects.ts'
import { type AppDoor, createAppDoor, type Fetch, type GitHubEndpoints } from '../../../src/github/index.ts'
import type { KubeClient } from '../../../src/kube/client/client.ts'
import type { Clock } from '../../../src/lib/clock.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { SecretString } from '../../../src/lib/secret-string.ts'
import type { Store } from '../../../src/store/store.ts'
import { type GitHubProxy, startGitHubProxy } from './github-proxy.ts'

export type GitHubDesk = {
  readonly github: RunningEmulator
  readonly proxy: GitHubProxy
  readonly installation: GitHubInstallation
  /** GitHub as the desk sees it: through the proxy. */
  readonly endpoints: GitHubEndpoints
  readonly door: AppDoor
  /** A token for one workload under one grant; the same names, the same wish. */
  readonly request: (workload: string) => Promise<DeliveredToken>
  /** What GitHub itself says to a token, past the proxy. */
  readonly githubAccepts: (token: SecretString) => Promise<boolean>
  readonly stop: () => Promise<void>
}

export type GitHubSite = { readonly github: RunningEmulator; readonly installation: GitHubInstallation }

/** The emulator with the App installed on all of acme. `clock` is GitHub's own. */
export async function startGitHubSite(clock: Clock): Promise<GitHubSite> {
  const github = await startEmulator({ now: () => clock.now().getTime() })
  const [app] = github.context.world.apps
  if (app === undefined) throw new Error('the seed has no App')
  return {
    github,
    installation: installApp(github.context, app, acme, olivia, { repositorySelection: 'all', repositoryIds: [] }),
  }
}

type Options = GitHubSite & {
  readonly store: Store
  readonly clock: Clock
  /** For a GitHub that does not answer: shorter than the time limit of 15 s, so that minutes of outage fit into a test. */
  readonly answerWithinMilliseconds?: number
}

/** Milliseconds; longer than the product waits. */
const longestAnswer = 60_000
const olivia = 1001
const acme = 2001
const shop = 4001
let desks = 0

/** A desk with a proxy of its own; several may share one GitHub, one store and one clock. */
export async function openGitHubDesk(options: Options): Promise<GitHubDesk> {
  const { github, installation, store, clock, answerWithinMilliseconds = longestAnswer } = options
  desks += 1
  const world = `desk-${process.pid}-${desks}`
  const proxy = await startGitHubProxy(github.url)
  const { app } = github
  const api = new URL(new URL(github.apiUrl).pathname, proxy.url).href
  const endpoints = { host, web: proxy.url, api }
  const impatient: Fetch = (url, init) => {
    const limit = AbortSignal.timeout(proxy.answers() ? longestAnswer : answerWithinMilliseconds)
    return fetch(url, { ...init, signal: init?.signal ? AbortSignal.any([init.signal, limit]) : limit })
  }
  const door = createAppDoor({
    // Named apart: doors to one host and App share their queue.
    endpoints: { ...endpoints, host: world },
    appId: app.id,
    clientId: app.clientId,
    privateKeys: [new SecretString(app.privateKeyPem)],
    log: silentLog,
    clock,
    fetch: impatient,
  })
  const grant = grantObject({ name: world })
  const spec = { ...installationObject.spec, installationId: installation.id }
  const bound = { ...installationObject, spec }
  const objects = new Map<string, unknown>([
    [repositoryGrant.kind, grant],
    [bound.kind, bound],
  ])
  const client = { get: async (type: { readonly kind: string }) => objects.get(type.kind) } as unknown as KubeClient
  const desk = createTokenDesk({
    client,
    githubApps: { door: async () => ({ door, endpoints, appId: app.id }) },
    appNameOf: () => 'sekisho',
    tokens: store.tokens,
    audit: store.audit,
    clock,
    log: silentLog,
    tenantOf: () => undefined,
  })
  return {
    github,
    proxy,
    installation,
    endpoints,
    door,
    request: workload =>
      desk.request({ grant, subject: { ...runner, uid: `${world}-${workload}` }, actor: 'system:serviceaccount:acme:runner' }),
    async githubAccepts(token) {
      const url = `${github.apiUrl}/repositories/${shop}`
      const answer = await fetch(url, { headers: { authorization: `Bearer ${token.reveal()}` } })
      await answer.body?.cancel()
      return answer.status === 200
    },
    stop: proxy.stop,
  }
}
