// What the API server writes to its audit log: user, verb and object, never a body, because a body may hold a Secret.
import { stringify } from 'yaml'

/**
 * Whose requests are logged: those of all, or those of the platform's ServiceAccounts, where a suite of tests sends too many to
 * keep all.
 */
export type Audited = 'everybody' | 'platform'

// All of them: test/rights compares them with what the platform may do.
const platformRule = { level: 'Metadata', userGroups: ['system:serviceaccounts:sekisho-system'] }

const otherRules: Readonly<Record<Audited, readonly object[]>> = {
  everybody: [
    { level: 'None', nonResourceURLs: ['/healthz*', '/livez*', '/readyz*', '/version', '/openapi*'] },
    { level: 'None', resources: [{ group: 'coordination.k8s.io', resources: ['leases'] }] },
    { level: 'None', users: ['system:apiserver'], verbs: ['get', 'list', 'watch'] },
    { level: 'Metadata' },
  ],
  platform: [{ level: 'None' }],
}

/** Metadata level for everything except reads of health and leases, which would fill the log. */
export function auditPolicy(audited: Audited): string {
  return stringify({
    apiVersion: 'audit.k8s.io/v1',
    kind: 'Policy',
    omitStages: ['RequestReceived'],
    rules: [platformRule, ...otherRules[audited]],
  })
}
