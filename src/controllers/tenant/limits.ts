// What one tenant may use of what all share, and what a container gets that asks for nothing. Pure. Modest: meant to stop a mistake or a
// flood from reaching others, not to size anybody's production. Node ports and load balancers reach past the ingress, so there are none.
// Only kinds that every cluster of ours has are counted: a quota refuses what it names and cannot count.
import type { Tenant } from '../../api/tenancy/tenant.ts'

const defaultApplications = 50

/** Our own kinds: in a quota of their own, because a cluster may take half a minute after their installation until it can count them. */
export function kindsQuota({ limits }: Tenant['spec']): Readonly<Record<string, string>> {
  return {
    'count/applications.apps.sekisho.dev': String(limits?.applications ?? defaultApplications),
    'count/remotesyncs.apps.sekisho.dev': String(limits?.applications ?? defaultApplications),
    'count/repositorygrants.github.sekisho.dev': '500',
  }
}

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

/** For the LimitRange: a quota on memory and CPU makes both mandatory, and this gives them to containers that name none. */
export function containerDefaults(purpose: 'application' | 'build'): object {
  return purpose === 'application'
    ? { type: 'Container', default: { memory: '256Mi' }, defaultRequest: { cpu: '50m', memory: '64Mi' } }
    : { type: 'Container', default: { memory: '1Gi' }, defaultRequest: { cpu: '50m', memory: '128Mi' } }
}
