// The kinds that commands name. Requests need the names only: the schemas behind them would cost every command their loading
// time. A test compares the names with the registry.
import type { AppPipeline } from '../../api/apps/app-pipeline.ts'
import type { AppSecret } from '../../api/apps/app-secret.ts'
import type { Application } from '../../api/apps/application.ts'
import type { Release } from '../../api/apps/release.ts'
import type { RemoteSync } from '../../api/apps/remote-sync.ts'
import { clusterKind, namespacedKind } from '../../api/builtin/resource-type.ts'
import type { GrantApproval } from '../../api/github/grant-approval.ts'
import type { ClusterGrantPolicy, GrantPolicy } from '../../api/github/grant-policy.ts'
import type { Halt } from '../../api/github/halt.ts'
import type { Installation } from '../../api/github/installation.ts'
import type { RepositoryGrant } from '../../api/github/repository-grant.ts'
import type { Bucket } from '../../api/services/bucket.ts'
import type { ServiceBinding } from '../../api/services/service-binding.ts'
import type { ServiceClass } from '../../api/services/service-class.ts'
import type { ServiceInstance } from '../../api/services/service-instance.ts'
import type { DomainClaim } from '../../api/tenancy/domain-claim.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'

const apps = 'apps.sekisho.dev/v1alpha1'
const github = 'github.sekisho.dev/v1alpha1'
const services = 'services.sekisho.dev/v1alpha1'

export const applications = namespacedKind<Application>(apps, 'Application', 'applications')
export const appSecrets = namespacedKind<AppSecret>(apps, 'AppSecret', 'appsecrets')
export const remoteSyncs = namespacedKind<RemoteSync>(apps, 'RemoteSync', 'remotesyncs')
export const appPipelines = namespacedKind<AppPipeline>(apps, 'AppPipeline', 'apppipelines')
export const releases = namespacedKind<Release>(apps, 'Release', 'releases')
export const installations = namespacedKind<Installation>(github, 'Installation', 'installations')
export const repositoryGrants = namespacedKind<RepositoryGrant>(github, 'RepositoryGrant', 'repositorygrants')
export const grantApprovals = namespacedKind<GrantApproval>(github, 'GrantApproval', 'grantapprovals')
export const grantPolicies = namespacedKind<GrantPolicy>(github, 'GrantPolicy', 'grantpolicies')
export const clusterGrantPolicies = clusterKind<ClusterGrantPolicy>(github, 'ClusterGrantPolicy', 'clustergrantpolicies')
export const halts = namespacedKind<Halt>(github, 'Halt', 'halts')
export const serviceClasses = clusterKind<ServiceClass>(services, 'ServiceClass', 'serviceclasses')
export const serviceInstances = namespacedKind<ServiceInstance>(services, 'ServiceInstance', 'serviceinstances')
export const buckets = namespacedKind<Bucket>(services, 'Bucket', 'buckets')
export const serviceBindings = namespacedKind<ServiceBinding>(services, 'ServiceBinding', 'servicebindings')
export const tenants = clusterKind<Tenant>('tenancy.sekisho.dev/v1alpha1', 'Tenant', 'tenants')
export const domainClaims = clusterKind<DomainClaim>('tenancy.sekisho.dev/v1alpha1', 'DomainClaim', 'domainclaims')
