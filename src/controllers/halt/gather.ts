// What must be known about a Halt: which grants it is about, which live tokens, and how those ended that it ended before. From
// caches and the registry of tokens; GitHub and the key of the App are not needed. Never writes.
import { type Halt, maxHaltedNames } from '../../api/github/halt.ts'
import type { Installation } from '../../api/github/installation.ts'
import type { RepositoryGrant } from '../../api/github/repository-grant.ts'
import { platformNamespace } from '../../api/names.ts'
import { keyOf, keyText } from '../../api/resource.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import { defined } from '../../lib/json/defined.ts'
import { haltedText, isHaltedBy, ofInstallation } from '../../policy/halt.ts'
import type { EndedTokens, LiveTokenFilter, TokenRegistry } from '../../store/token-registry.ts'

export type HaltCaches = {
  readonly grants: Pick<Cache<RepositoryGrant>, 'list'>
  readonly installations: Pick<Cache<Installation>, 'get' | 'list'>
  readonly tenants: Pick<Cache<Tenant>, 'get'>
  readonly tenantOf: (namespace: string) => Tenant | undefined
}

export type GatherDeps = HaltCaches & {
  readonly tokens: Pick<TokenRegistry, 'liveBy' | 'endedFor'>
}

/** Who had the token that is halted. */
export type HaltedSubject = NonNullable<NonNullable<Halt['status']>['subject']>

export type Facts = {
  /** Finds the live tokens; undefined when there can be none, as for a hash that no live token has. */
  readonly filter: LiveTokenFilter | undefined
  readonly left: number
  readonly ended: EndedTokens
  readonly grants: { readonly count: number; readonly names: readonly string[] }
  readonly subject: HaltedSubject | undefined
}

/** Whether the Halt, standing or not, is about the grant, whoever uses it. */
export function isAboutGrant(caches: HaltCaches, halt: Halt, grant: RepositoryGrant): boolean {
  const { namespace = '', name } = grant.metadata
  const installation = caches.installations.get({ namespace, name: grant.spec.installation })
  return isHaltedBy(halt, {
    namespace,
    tenant: caches.tenantOf(namespace)?.metadata.name ?? namespace,
    grant: name,
    requestedBy: grant.spec.requestedBy,
    ...ofInstallation(installation),
    repositoryIds: grant.status?.repositories?.map(({ id }) => id),
  })
}

/** Rejects when the registry cannot be read. */
export async function gather(deps: GatherDeps, halt: Halt): Promise<Facts> {
  const about = deps.grants.list().filter(grant => isAboutGrant(deps, halt, grant))
  const names = about.map(grant => keyText(keyOf(grant))).toSorted()
  const grants = { count: names.length, names: names.slice(0, maxHaltedNames) }
  const token = halt.spec.target.type === 'Token' ? await tokenOf(deps, halt) : undefined
  const filter = filterOf(deps, halt, { about, tokenId: token?.id })
  const live = filter === undefined ? [] : await deps.tokens.liveBy(filter)
  return {
    filter,
    left: live.length,
    ended: await deps.tokens.endedFor(haltedText(halt)),
    grants,
    subject: halt.status?.subject ?? token?.subject,
  }
}

/** A Halt in the namespace of a tenant finds what is of that namespace only. */
function scopeOf({ metadata }: Halt): Pick<LiveTokenFilter, 'namespace'> {
  return metadata.namespace === platformNamespace ? {} : defined({ namespace: metadata.namespace })
}

type HaltedToken = { readonly id: string; readonly subject: HaltedSubject }

async function tokenOf({ tokens }: GatherDeps, halt: Halt): Promise<HaltedToken | undefined> {
  const { id, hash } = halt.spec.target.token ?? {}
  // Without either, every token of the scope would be the one.
  if (id === undefined && hash === undefined) return undefined
  const [token] = await tokens.liveBy({ ...scopeOf(halt), delivered: true, ...defined({ id, hashedToken: hash }) })
  if (token === undefined) return undefined
  const { namespace, kind, name } = token.subject
  return { id: token.id, subject: { namespace, grant: token.grantName, kind, name } }
}

/** The one that is named, and those that its account has now. */
function installationIds(all: readonly Installation[], { host, id, account }: NonNullable<Target['installation']>) {
  const isOfAccount = ({ spec }: Installation): boolean => spec.account.host === host && spec.account.id === account
  return [...new Set([id, ...all.filter(isOfAccount).map(({ spec }) => spec.installationId)])]
}

type Target = Halt['spec']['target']
type Known = { readonly about: readonly RepositoryGrant[]; readonly tokenId: string | undefined }

function filterOf({ tenants, installations }: HaltCaches, halt: Halt, { about, tokenId }: Known): LiveTokenFilter | undefined {
  const { type, grant, repository, tenant, installation } = halt.spec.target
  const grantUids = (): readonly string[] => about.map(({ metadata }) => metadata.uid ?? '')
  const filters: Readonly<Record<typeof type, () => LiveTokenFilter | undefined>> = {
    Token: () => (tokenId === undefined ? undefined : { id: tokenId }),
    Grant: () => grant && { namespace: grant.namespace, grantName: grant.name },
    Repository: () => repository && { host: repository.host, repositoryId: repository.id },
    Person: () => ({ grantUids: grantUids() }),
    Tenant: () => tenant && { namespace: tenants.get({ name: tenant.name })?.spec.namespace ?? tenant.name },
    Installation: () =>
      // A sibling of its pool may have made tokens under the grants that name it.
      installation && {
        host: installation.host,
        byInstallations: { ids: installationIds(installations.list(), installation), grantUids: grantUids() },
      },
    Everything: () => ({}),
  }
  const filter = filters[type]()
  const scope = scopeOf(halt)
  const isElsewhere = scope.namespace !== undefined && filter?.namespace !== undefined && filter.namespace !== scope.namespace
  return filter === undefined || isElsewhere ? undefined : { ...filter, ...scope, delivered: true }
}
