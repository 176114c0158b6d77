// Reads the facts by which a request is decided: from the caches to refuse or to find a token that exists, and from the API
// server itself before a token is minted and before one is delivered, because a cache may not have observed yet that a grant
// was revoked. Absence is a fact and never an error; this file never writes.
import { type Halt, halt } from '../../api/github/halt.ts'
import { type Installation, installation as installations } from '../../api/github/installation.ts'
import type { GrantDelivery } from '../../api/github/repository-grant/delivery.ts'
import { type RepositoryGrant, repositoryGrant } from '../../api/github/repository-grant.ts'
import { platformNamespace } from '../../api/names.ts'
import type { KubeObject, ResourceType } from '../../api/resource.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'
import type { GitHubEndpoints } from '../../github/index.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import type { Clock } from '../../lib/clock.ts'
import { isAppError } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { TokenSubject } from '../../store/token-registry.ts'
import type { GitHubApp, GitHubApps } from './app-clients.ts'
import { type Bound, isForPool, siblingsOf } from './pool/siblings.ts'
import type { TokenRequest } from './token-desk.ts'

/** Values only: nothing is read later. */
export type DeskFacts = {
  readonly grant: RepositoryGrant | undefined
  /** The uid of the grant that the caller meant. */
  readonly grantUid: string | undefined
  readonly installation: Installation | undefined
  /** Those in the namespace of the grant and in that of the platform; from a cache also others. */
  readonly halts: readonly Halt[]
  /** The name of the Tenant whose namespace it is. */
  readonly tenant: string
  /** From the App's own settings; undefined when the App cannot be used. */
  readonly app: (GitHubEndpoints & { readonly appId: number }) | undefined
  readonly subject: TokenSubject
  /** How the token will be used. */
  readonly delivery: GrantDelivery
  readonly now: Date
}

export type GatherDeps = {
  readonly client: Pick<KubeClient, 'get'> & {
    /** All objects of the namespace. */
    readonly list: <T extends KubeObject>(type: ResourceType<T>, place: { readonly namespace: string }) => Promise<readonly T[]>
  }
  /** What this process has observed. */
  readonly cached: {
    readonly grants: Pick<Cache<RepositoryGrant>, 'get'>
    readonly installations: Pick<Cache<Installation>, 'get' | 'list'>
    readonly halts: Pick<Cache<Halt>, 'list'>
  }
  readonly tenantOf: (namespace: string) => Tenant | undefined
  readonly githubApps: GitHubApps
  readonly clock: Clock
  readonly log: Log
}

/**
 * The facts, and beside them with what GitHub is asked: the Installation of the grant with its App, and its siblings that are
 * bound now.
 */
export type Gathered = {
  readonly facts: DeskFacts
  readonly named: Bound | undefined
  readonly siblings: readonly Bound[]
}

/** @throws what the API server's client throws, except for absence */
export async function gatherFresh(deps: GatherDeps, request: TokenRequest): Promise<Gathered> {
  const { name, namespace = '' } = request.grant.metadata
  const ofPlatform = deps.client.list(halt, { namespace: platformNamespace })
  const ofTenant = deps.client.list(halt, { namespace })
  const reading = (async (): Promise<Objects> => {
    const grant = await deps.client.get(repositoryGrant, { namespace, name })
    const installation = grant && (await deps.client.get(installations, { namespace, name: grant.spec.installation }))
    return { grant, installation, halts: [], others: () => deps.client.list(installations, { namespace }) }
  })()
  const [read, ...halts] = await Promise.all([reading, ofPlatform, ofTenant])
  return gathered(deps, request, { ...read, halts: halts.flat() })
}

/** Costs no request. What it says may be out of date: a token is delivered by `gatherFresh` only. */
export function gatherCached(deps: GatherDeps, request: TokenRequest): Promise<Gathered> {
  const { name, namespace = '' } = request.grant.metadata
  const grant = deps.cached.grants.get({ namespace, name })
  const installation = grant && deps.cached.installations.get({ namespace, name: grant.spec.installation })
  const others = async () => deps.cached.installations.list(namespace)
  return gathered(deps, request, { grant, installation, halts: deps.cached.halts.list(), others })
}

type Objects = {
  readonly grant: RepositoryGrant | undefined
  readonly installation: Installation | undefined
  readonly halts: readonly Halt[]
  /** The Installations of the namespace: read only where there is a pool. */
  readonly others: () => Promise<readonly Installation[]>
}

async function gathered(deps: GatherDeps, request: TokenRequest, objects: Objects): Promise<Gathered> {
  const { grant, installation, halts } = objects
  const app = installation && (await usableApp(deps.githubApps, installation.spec.app))
  const named = installation && app && { installation, app }
  const pooled = named?.app.pool !== undefined && isForPool(request.subject) ? named : undefined
  return {
    facts: {
      grant,
      grantUid: request.grant.metadata.uid,
      installation,
      halts,
      tenant: deps.tenantOf(request.subject.namespace)?.metadata.name ?? request.subject.namespace,
      app: app && { ...app.endpoints, appId: app.appId },
      subject: request.subject,
      delivery: request.delivery ?? 'TokenEndpoint',
      now: deps.clock.now(),
    },
    named,
    siblings: pooled === undefined ? [] : await siblingsOf(deps, pooled, await objects.others()),
  }
}

async function usableApp(githubApps: GitHubApps, name: string): Promise<GitHubApp | undefined> {
  try {
    return await githubApps.get(name)
  } catch (error) {
    if (isAppError(error, 'not_found') || isAppError(error, 'invalid_configuration')) return undefined
    throw error
  }
}
