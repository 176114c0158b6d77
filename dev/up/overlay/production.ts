// What the production form needs of this machine before its migration: PostgreSQL on the node, under the name in its certificate.
import type { ClusterSettings } from '../../cluster/settings.ts'
import { databaseHost } from '../../postgres/platform-server.ts'
import { platformNamespace as namespace } from '../mode.ts'
import type { OverlayPart } from './part.ts'

const [name = ''] = databaseHost.split('.')

/** What of it is in the cluster. */
export const databaseObjects = [`service/${name}`, `endpointslice/${name}-node`]

/** A Service without a selector uses the EndpointSlices that carry its name. */
export function migrationPart(settings: ClusterSettings): OverlayPart {
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace },
    spec: { ports: [{ name: 'postgresql', port: 5432, targetPort: settings.postgresPort }] },
  }
  const endpoints = {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: `${name}-node`, namespace, labels: { 'kubernetes.io/service-name': name } },
    addressType: 'IPv4',
    endpoints: [{ addresses: [settings.nodeAddress], conditions: { ready: true } }],
    ports: [{ name: 'postgresql', port: settings.postgresPort, protocol: 'TCP' }],
  }
  return { objects: { 'database-service': service, 'database-endpoints': endpoints }, patches: [] }
}
