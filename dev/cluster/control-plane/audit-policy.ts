// What the API server writes to its audit log: user, verb and object, never a body, because a body may hold a Secret.
import { stringify } from 'yaml'

/** Metadata level for everything except reads of health and leases, which would fill the log. */
export function auditPolicy(): string {
  return stringify({
    apiVersion: 'audit.k8s.io/v1',
    kind: 'Policy',
    omitStages: ['RequestReceived'],
    rules: [
      { level: 'None', nonResourceURLs: ['/healthz*', '/livez*', '/readyz*', '/version', '/openapi*'] },
      { level: 'None', resources: [{ group: 'coordination.k8s.io', resources: ['leases'] }] },
      { level: 'None', users: ['system:apiserver'], verbs: ['get', 'list', 'watch'] },
      { level: 'Metadata' },
    ],
  })
}
