// What one tenant may use of what all tenants share, and the defaults for containers that request nothing. Pure. The limits are modest: they keep
// a mistake or a flood away from others and do not size anybody's production. Node ports and load balancers bypass the ingress, so they are 0.
// A quota must name only kinds that the cluster has: it refuses to create what it names and cannot count.
import { followerKinds } from '../../api/registry.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'

const defaultApplications = 50

/**
 * Our own kinds. They have a quota of their own, because a cluster needs up to half a minute after their installation until it can count them.
 * Each kind that follows a repository is limited as Applications are.
 */
export function kindsQuota({ limits }: Tenant['spec']): Readonly<Record<string, string>> {
  const applications = String(limits?.applications ?? defaultApplications)
  return {
    'count/applications.apps.sekisho.dev': applications,
    'count/repositorygrants.github.sekisho.dev': '500',
    ...Object.fromEntries(followerKinds.map(({ plural, group }) => [`count/${plural}.${group}`, applications])),
  }
}

/** For the namespace in which the tenant works. */
export function applicationQuota(): Readonly<Record<string, string>> {
  return {
    'count/configmaps': '500',
    'count/jobs.batch': '500',
    'count/secrets': '200',
    'limits.memory': '32Gi',
    persistentvolumeclaims: '20',
    pods: '200',
    'requests.cpu': '16',
    'requests.memory': '32Gi',
    'requests.storage': '100Gi',
    services: '200',
    'services.loadbalancers': '0',
    'services.nodeports': '0',
  }
}

/** For the namespace in which builds run. */
export function buildQuota(): Readonly<Record<string, string>> {
  return {
    'limits.memory': '64Gi',
    persistentvolumeclaims: '0',
    pods: '250',
    'requests.cpu': '32',
    'requests.memory': '64Gi',
    services: '0',
  }
}

/** For the LimitRange: a quota on memory and CPU makes both mandatory, and this sets them on containers that do not. */
export function containerDefaults(purpose: 'application' | 'build'): object {
  return purpose === 'application'
    ? { type: 'Container', default: { memory: '256Mi' }, defaultRequest: { cpu: '50m', memory: '64Mi' } }
    : { type: 'Container', default: { memory: '1Gi' }, defaultRequest: { cpu: '50m', memory: '128Mi' } }
}
