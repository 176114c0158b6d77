// Clients of GitHub by the name of a ClusterGitHubApp. Private keys, or the token of the server that has the key, are read from
// Secrets of the platform namespace and stay in this process; a changed one takes effect at the next call, without a restart.
import type { ClusterGitHubApp } from '../../api/github/cluster-github-app.ts'
import type { Installation } from '../../api/github/installation.ts'
import type { ReadNamedSecret } from '../../api/named-secret.ts'
import { platformNamespace } from '../../api/names.ts'
import {
  type AppClient,
  createAppClient,
  endpointsOfApp,
  type Fetch,
  type GitHubEndpoints,
  type GitHubMeter,
  hostConflict,
  pemSigner,
  type Signer,
  transitSigner,
} from '../../github/index.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { defined } from '../../lib/json/defined.ts'
import type { Log } from '../../lib/log.ts'
import { SecretString } from '../../lib/secret-string.ts'

/** A GitHub App that can be used: its client, where and under which id it is registered, and in which pool it is. */
export type GitHubApp = {
  readonly client: AppClient
  readonly endpoints: GitHubEndpoints
  readonly appId: number
  readonly pool?: string
}

/** The Apps that this process can act as. */
export type GitHubApps = {
  /**
   * The same client is returned as long as the App's spec and its keys do not change.
   * @throws AppError `not_found` for an unknown App, `invalid_configuration` when no key can be read (reason PrivateKeyMissing)
   * or an older App says that the host is elsewhere (HostConflict); KubeError when the API server does not answer
   */
  readonly get: (appName: string) => Promise<GitHubApp>
}

/**
 * The App through which an Installation is reached. Ids of installations, accounts and people mean something on one host only: an
 * App on another host would answer about somebody else.
 * @throws as `GitHubApps.get`, and `invalid_configuration` for an App of another host than that of the account
 */
export async function appOfInstallation(apps: GitHubApps, { app: name, account }: Installation['spec']): Promise<GitHubApp> {
  const app = await apps.get(name)
  if (app.endpoints.host === account.host) return app
  const message = `ClusterGitHubApp ${name} is on ${app.endpoints.host}, and the account is on ${account.host}: onboard the account again`
  throw new AppError('invalid_configuration', message)
}

export type GitHubAppsDeps = {
  readonly apps: Pick<Cache<ClusterGitHubApp>, 'get' | 'list'>
  /** Reads a Secret of the platform namespace. */
  readonly secretOf: ReadNamedSecret
  /** Of the replicas that act as the App, the leader may make most of its tokens. */
  readonly isLeader: () => boolean
  readonly log: Log
  readonly clock: Clock
  readonly fetch?: Fetch
  readonly meter?: GitHubMeter
}

/** Reason of the error when no private key can be read. */
export const privateKeyMissing = 'PrivateKeyMissing'
/** Reason of the error when the App contradicts an older one about where its host is. */
export const hostConflicts = 'HostConflict'

type Opened = GitHubApp & { readonly revision: string }

// Memory (App clients): App and the resourceVersions of its key Secrets → client
//   life: until the App or its keys change
//   bound: one of each App
//   freshness: another generation or resourceVersion, seen within 5 s; the end of the App
//   replicas: each opens its own
/** Keeps one client for each App: it holds what was learned about GitHub (rate limits, clock, preferred key). */
export function createGitHubApps(deps: GitHubAppsDeps): GitHubApps {
  const opened = new Map<string, Opened>()
  return {
    async get(appName) {
      const app = deps.apps.get({ name: appName })
      if (app === undefined || app.metadata.deletionTimestamp !== undefined) {
        opened.delete(appName)
        throw new AppError('not_found', `there is no ClusterGitHubApp ${appName}`)
      }
      const conflict = hostConflict(app, deps.apps.list())
      if (conflict !== undefined) throw new AppError('invalid_configuration', conflict, { reason: hostConflicts })
      const { signers, revision } = await signersOf(app, deps.secretOf)
      const known = opened.get(appName)
      if (known?.revision === revision) return known
      const fresh = { ...openClient(deps, app, signers), revision }
      opened.set(appName, fresh)
      return fresh
    },
  }
}

/** In a Secret. */
type SecretKey = { readonly secretName: string; readonly key: string }

/**
 * By the keys that exist, or by the server that has the key; and a revision of all that their client depends on: a status update
 * must not replace it, a new key or token must.
 */
async function signersOf(
  app: ClusterGitHubApp,
  secretOf: ReadNamedSecret,
): Promise<{ readonly signers: readonly Signer[]; readonly revision: string }> {
  const { privateKeys, signer } = app.spec
  const wanted = privateKeys ?? (signer ? [signer.transit.token] : [])
  const found = await Promise.all(wanted.map(one => secretValue(one, secretOf)))
  const present = found.filter(item => item.value !== undefined)
  if (present.length === 0) {
    const closed = found.flatMap(({ forbidden }) => forbidden ?? [])
    throw new AppError('invalid_configuration', missingKey(wanted, closed), { reason: privateKeyMissing })
  }
  const revision = [app.metadata.uid, app.metadata.generation, ...present.map(item => item.version)].join(' ')
  const [first] = present
  if (signer !== undefined && privateKeys === undefined && first !== undefined) {
    // What people write into Secrets often ends with a line break.
    const token = new SecretString(first.value.reveal().trim())
    return { signers: [transitSigner({ ...signer.transit, token })], revision }
  }
  return { signers: present.map(item => pemSigner(item.value)), revision }
}

type Found = { readonly value: SecretString; readonly version: string; readonly forbidden?: never }
type NotFound = { readonly forbidden?: string; readonly value?: never; readonly version?: never }

async function secretValue({ secretName, key }: SecretKey, secretOf: ReadNamedSecret): Promise<Found | NotFound> {
  const answer = await secretOf(secretName)
  const secret = answer.kind === 'found' ? answer.secret : undefined
  const encoded = secret?.data?.[key]
  if (secret === undefined || encoded === undefined || encoded === '')
    return answer.kind === 'forbidden' ? { forbidden: secretName } : {}
  return {
    value: new SecretString(Buffer.from(encoded, 'base64').toString('utf8')),
    version: `${secretName}/${key}@${secret.metadata.resourceVersion}`,
  }
}

/** Secrets that may not be read are named as such: creating them again would not help. */
function missingKey(keys: readonly SecretKey[], forbidden: readonly string[]): string {
  if (forbidden.length > 0)
    return `the platform may not read Secret ${forbidden.join(' or ')} in namespace ${platformNamespace}: give its ServiceAccount a Role with get on this name`
  const wanted = keys.map(({ secretName, key }) => `${secretName} (key ${key})`).join(' or ')
  return `Secret ${wanted} is missing in namespace ${platformNamespace}: create it`
}

function openClient(deps: GitHubAppsDeps, app: ClusterGitHubApp, signers: readonly Signer[]): GitHubApp {
  const { host, appId, clientId, pool } = app.spec
  const endpoints = endpointsOfApp(app)
  const { isLeader, log, clock, fetch, meter } = deps
  const client = createAppClient({
    endpoints,
    appId,
    clientId,
    signers,
    isLeader,
    log,
    clock,
    ...defined({ fetch, observe: meter?.ofApp(host, appId) }),
  })
  return { client, endpoints, appId, ...defined({ pool }) }
}
