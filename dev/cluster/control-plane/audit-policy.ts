// What the API server writes to its audit log: who did what to which object, never a body (a body may hold a Secret).
// Pure.
import { stringify } from 'yaml'

/** Metadata level for everything but reads of health and leases, which would drown the rest. */
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
