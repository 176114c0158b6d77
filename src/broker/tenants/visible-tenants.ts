// The tenant as one person sees it. RBAC is asked first, for existing and other namespaces alike, and only what it allows is
// read. A tenant of which somebody sees nothing has the same answer as one that does not exist. What the Tenant object says
// about the person's own role, and whether it is ready, is shown by the Tenant itself: it is what RoleBindings are made from,
// and the namespace may not exist yet.
import type { AppPipeline } from '../../api/apps/app-pipeline.ts'
import type { Application } from '../../api/apps/application.ts'
import type { Release } from '../../api/apps/release.ts'
import type { RemoteSync } from '../../api/apps/remote-sync.ts'
import type { Halt } from '../../api/github/halt.ts'
import type { Installation } from '../../api/github/installation.ts'
import type { RepositoryGrant } from '../../api/github/repository-grant.ts'
import { isOwned } from '../../api/registry.ts'
import type { Bucket } from '../../api/services/bucket.ts'
import type { ServiceInstance } from '../../api/services/service-instance.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import { isKubeError } from '../../kube/client/errors.ts'
import { AppError, isAppError } from '../../lib/errors.ts'
import { defined } from '../../lib/json/defined.ts'
import type { BuildList, VisibleBuilds } from '../builds/visible-builds.ts'
import { waitingGrants } from '../grants/visible-grants.ts'
import type { AccessReviews } from '../people/access-reviews.ts'
import { type Identity, type TenantRole, tenantRole } from '../people/tenant-access.ts'
import { accessOf, applicationQuestion, listQuestion, noAccess, seesAnything, type TenantAccess } from './access.ts'
import type { ApplicationReader } from './applications.ts'
import { type Bounded, bounded, byName } from './bounded.ts'
import type { ServiceReader } from './services.ts'

const maxListed = 300
const maxPipelines = 20
const maxBuilds = 10
const maxGrants = 20

/** Each part is there when RBAC allows the person to see it. */
export type TenantView = {
  readonly tenant: Tenant
  /** By the roles of the Tenant. */
  readonly role: TenantRole | undefined
  readonly access: TenantAccess
  /** What halts the tenant as a whole, for the people that it names. */
  readonly halt?: Halt | undefined
  readonly installations?: readonly Installation[]
  /** `unread`: the API server did not answer. The rest of the page is shown all the same. */
  readonly applications?: Bounded<Application> | 'unread'
  /** The same. */
  readonly services?: Bounded<ServiceInstance> | 'unread'
  readonly buckets?: Bounded<Bucket> | 'unread'
  readonly remoteSyncs?: Bounded<RemoteSync>
  readonly pipelines?: Bounded<AppPipeline>
  readonly builds?: BuildList
  /** The grants that wait for people. */
  readonly waitingGrants?: Bounded<RepositoryGrant>
}

export type ApplicationView = {
  readonly application: Application
  readonly access: TenantAccess
  readonly releases?: Bounded<Release>
}

/** A row of the list of all tenants. */
export type ListedTenant = { readonly tenant: Tenant; readonly halt?: Halt | undefined }

export type VisibleTenants = {
  /** All, in the order of their names, for whoever RBAC lets list Tenants. Rejects with `not_found` for others. */
  readonly all: (identity: Identity) => Promise<readonly ListedTenant[]>
  /** Rejects with `not_found` when there is no tenant with that namespace, or the person sees nothing of it. */
  readonly find: (identity: Identity, namespace: string) => Promise<TenantView>
  /** What the Tenant object alone says to the people that it names. Rejects with `not_found` for others. */
  readonly stateOnly: (identity: Identity, namespace: string) => TenantView
  /** The same as `find` for one Application. */
  readonly findApplication: (identity: Identity, namespace: string, name: string) => Promise<ApplicationView>
}

export type VisibleTenantsDeps = {
  readonly reviews: AccessReviews
  readonly tenants: Pick<Cache<Tenant>, 'addIndex' | 'byIndex' | 'list'>
  readonly installations: Pick<Cache<Installation>, 'list'>
  readonly remoteSyncs: Pick<Cache<RemoteSync>, 'list'>
  readonly pipelines: Pick<Cache<AppPipeline>, 'list'>
  readonly grants: Pick<Cache<RepositoryGrant>, 'list'>
  readonly applications: ApplicationReader
  readonly services: ServiceReader
  readonly haltOf: (tenant: Tenant) => Halt | undefined
  readonly builds: Pick<VisibleBuilds, 'list'>
}

function noTenant(): AppError {
  return new AppError('not_found', 'there is no such tenant, or you may not see anything of it')
}

function noApplication(): AppError {
  return new AppError('not_found', 'there is no such Application, or you may not see it (get on applications)')
}

/** Nothing is shown that could not be read. */
async function read<T>(promise: Promise<T>): Promise<T> {
  try {
    return await promise
  } catch (cause) {
    if (!isKubeError(cause)) throw cause
    throw new AppError('unavailable', 'the API server does not answer: try again', { cause })
  }
}

function unread(error: unknown): 'unread' {
  if (!isKubeError(error)) throw error
  return 'unread'
}

/** The right may end between the question before and the one that reading builds asks itself. */
function unlessRefused(error: unknown): undefined {
  if (!isAppError(error, 'not_found')) throw error
}

const byNamespace = 'pages/namespace'

/** Adds an index, so it may be called once per manager. */
export function createVisibleTenants(deps: VisibleTenantsDeps): VisibleTenants {
  const { reviews, tenants, applications } = deps
  tenants.addIndex(byNamespace, ({ spec }) => [spec.namespace])

  /** The one that has the namespace, when several name it. */
  const tenantOf = (namespace: string): Tenant | undefined => {
    const named = byName(tenants.byIndex(byNamespace, namespace))
    return named.find(({ status }) => status?.namespace === namespace) ?? named[0]
  }

  return {
    async all(identity) {
      if (!(await reviews.allows(identity, listQuestion))) throw new AppError('not_found', 'there is no such page')
      return byName(tenants.list()).map(one => ({ tenant: one, ...defined({ halt: deps.haltOf(one) }) }))
    },
    async find(identity, namespace) {
      const tenant = tenantOf(namespace)
      const access = await accessOf(reviews, identity, { namespace, tenantName: tenant?.metadata.name ?? namespace })
      const role = tenant && tenantRole(identity, tenant)
      if (tenant === undefined || (role === undefined && !seesAnything(access))) throw noTenant()
      const halt = role === undefined && !access.tenant ? undefined : deps.haltOf(tenant)
      return { tenant, role, access, ...defined({ halt }), ...(await parts(deps, identity, { namespace, access })) }
    },
    stateOnly(identity, namespace) {
      const tenant = tenantOf(namespace)
      const role = tenant && tenantRole(identity, tenant)
      if (tenant === undefined || role === undefined) throw noTenant()
      return { tenant, role, access: noAccess, ...defined({ halt: deps.haltOf(tenant) }) }
    },
    async findApplication(identity, namespace, name) {
      const tenant = tenantOf(namespace)
      const access = await accessOf(reviews, identity, { namespace, tenantName: tenant?.metadata.name ?? namespace })
      const question = applicationQuestion(namespace, name)
      if (!(await reviews.allows(identity, question)) || tenant === undefined) throw noApplication()
      const application = await read(applications.get({ namespace, name }))
      if (application === undefined) throw noApplication()
      return { application, access, ...(access.releases ? { releases: await read(applications.releases(application)) } : {}) }
    },
  }
}

async function parts(
  { installations, remoteSyncs, pipelines, grants, applications, services, builds }: VisibleTenantsDeps,
  identity: Identity,
  { namespace, access }: { readonly namespace: string; readonly access: TenantAccess },
): Promise<Omit<TenantView, 'tenant' | 'role' | 'access' | 'halt'>> {
  const [listed, served, stored, built] = await Promise.all([
    access.applications ? applications.list(namespace).catch(unread) : undefined,
    access.services ? services.instances(namespace).catch(unread) : undefined,
    access.buckets ? services.buckets(namespace).catch(unread) : undefined,
    access.builds ? builds.list(identity, namespace, { limit: maxBuilds }).catch(unlessRefused) : undefined,
  ])
  return {
    ...(access.installations ? { installations: byName(installations.list(namespace)) } : {}),
    ...(listed && { applications: listed }),
    ...(served && { services: served }),
    ...(stored && { buckets: stored }),
    ...(access.remoteSyncs
      ? { remoteSyncs: bounded(byName(remoteSyncs.list(namespace).filter(sync => !isOwned(sync))), maxListed) }
      : {}),
    ...(access.pipelines ? { pipelines: bounded(byName(pipelines.list(namespace)), maxPipelines) } : {}),
    ...(built && { builds: built }),
    ...(access.grants ? { waitingGrants: bounded(waitingGrants(grants, namespace), maxGrants) } : {}),
  }
}
