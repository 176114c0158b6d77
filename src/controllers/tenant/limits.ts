// What one tenant may use of what all tenants share, and the defaults for containers that request nothing. Pure. The limits are
// modest: they keep a mistake or a flood away from others, and platform admins raise them (`spec.limits` of a Tenant). Node
// ports and load balancers bypass the ingress, so they are 0. A quota must name only kinds that the cluster has: it refuses to
// create what it names and cannot count.
import { followerKinds, ownerKinds } from '../../api/registry.ts'
import { defaultResources } from '../../api/tenancy/resource-limits.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'
import { boundedKinds } from '../../api/tenancy/tenant-roles.ts'
import { canonicalQuantity } from '../../lib/text/quantity.ts'

const defaultApplications = 50
/** Grants that people create live for minutes to months, and each is small. What follows a repository has one of its own. */
const maxOtherGrants = 500
/** Each is read before every delivery of a token in the namespace. */
const maxHalts = 50
/** Each is looked at with its grant, and deleted with it. */
const maxGrantApprovals = 500
/** Several for each Application: each costs the server a database or a bucket, or two logins or users at most. */
const defaultServicesPerApplication = 2
const bindingsPerApplication = 4

/** Together at most 1,000 rules, which each decision about a grant looks at by an index. */
const maxGrantPolicies = 10

/** Beside those that run: what has ended stays until it is collected. */
const maxEndedPods = 100

function applicationsOf(limits: Tenant['spec']['limits']): number {
  return limits?.applications ?? defaultApplications
}

/** Of each kind of service. What was kept of one that is deleted is no object, and counts no more. */
function servicesOf(limits: Tenant['spec']['limits']): number {
  return limits?.services ?? defaultServicesPerApplication * applicationsOf(limits)
}

/**
 * Our own kinds. They have a quota of their own, because a cluster needs up to half a minute after their installation until it
 * can count them. Each kind that follows a repository or owns Applications is limited as Applications are.
 */
export function kindsQuota({ limits }: Tenant['spec']): Readonly<Record<string, string>> {
  const applications = canonicalQuantity(String(applicationsOf(limits)))
  return {
    'count/applications.apps.sekisho.dev': applications,
    // One for each, and as many that several share.
    'count/appsecrets.apps.sekisho.dev': canonicalQuantity(String(2 * applicationsOf(limits))),
    'count/buckets.services.sekisho.dev': canonicalQuantity(String(servicesOf(limits))),
    'count/grantapprovals.github.sekisho.dev': String(maxGrantApprovals),
    'count/grantpolicies.github.sekisho.dev': String(maxGrantPolicies),
    'count/halts.github.sekisho.dev': String(maxHalts),
    'count/repositorygrants.github.sekisho.dev': canonicalQuantity(
      String(maxOtherGrants + followerKinds.length * applicationsOf(limits)),
    ),
    'count/servicebindings.services.sekisho.dev': canonicalQuantity(String(bindingsPerApplication * applicationsOf(limits))),
    'count/serviceinstances.services.sekisho.dev': canonicalQuantity(String(servicesOf(limits))),
    ...Object.fromEntries(
      [...followerKinds, ...ownerKinds].map(({ plural, group }) => [`count/${plural}.${group}`, applications]),
    ),
  }
}

/** For the namespace in which the tenant works. `count/…` also counts what has ended: a finished pod stays in etcd. */
export function applicationQuota({ limits }: Tenant['spec']): Readonly<Record<string, string>> {
  const applications = applicationsOf(limits)
  const { pods, cpu, memory, ephemeralStorage, storage } = { ...defaultResources, ...limits?.resources }
  const disk = typeof ephemeralStorage === 'object' ? ephemeralStorage : { requests: ephemeralStorage, limits: ephemeralStorage }
  const counts = boundedKinds.map(({ group, plural, most, perApplication = 0 }) => [
    `count/${plural}${group === '' ? '' : `.${group}`}`,
    canonicalQuantity(String(most + perApplication * applications)),
  ])
  return {
    ...Object.fromEntries(counts),
    'count/pods': canonicalQuantity(String(pods + maxEndedPods)),
    'limits.ephemeral-storage': canonicalQuantity(disk.limits),
    'limits.memory': canonicalQuantity(memory),
    pods: canonicalQuantity(String(pods)),
    'requests.cpu': canonicalQuantity(cpu),
    'requests.ephemeral-storage': canonicalQuantity(disk.requests),
    'requests.memory': canonicalQuantity(memory),
    'requests.storage': canonicalQuantity(storage),
    'services.loadbalancers': '0',
    'services.nodeports': '0',
  }
}

/** For the namespace in which builds run. */
export function buildQuota(): Readonly<Record<string, string>> {
  return {
    'limits.ephemeral-storage': '400Gi',
    'limits.memory': '64Gi',
    persistentvolumeclaims: '0',
    pods: '250',
    'requests.cpu': '32',
    'requests.ephemeral-storage': '100Gi',
    'requests.memory': '64Gi',
    services: '0',
  }
}

/**
 * No pod with a priority class: one with a higher priority evicts pods of others from a full node. It is a quota of its own,
 * because its scope decides which pods count. Source:
 * https://kubernetes.io/docs/concepts/policy/resource-quotas/#resource-quota-per-priorityclass
 */
export function priorityQuota(purpose: 'application' | 'build'): object {
  const named = { scopeName: 'PriorityClass', operator: 'Exists' }
  // Builders of the platform may name classes of their own.
  const ofTheSystem = {
    scopeName: 'PriorityClass',
    operator: 'In',
    values: ['system-node-critical', 'system-cluster-critical'],
  }
  return { hard: { pods: '0' }, scopeSelector: { matchExpressions: [purpose === 'application' ? named : ofTheSystem] } }
}

/** For the LimitRange: a quota on memory, CPU and storage makes them mandatory, and this sets them on containers that do not. */
export function containerDefaults(purpose: 'application' | 'build'): object {
  const application = {
    default: { memory: '256Mi', 'ephemeral-storage': '1Gi' },
    defaultRequest: { cpu: '50m', memory: '64Mi', 'ephemeral-storage': '32Mi' },
  }
  const build = {
    default: { memory: '1Gi', 'ephemeral-storage': '10Gi' },
    defaultRequest: { cpu: '50m', memory: '128Mi', 'ephemeral-storage': '128Mi' },
  }
  return { type: 'Container', ...(purpose === 'application' ? application : build) }
}
