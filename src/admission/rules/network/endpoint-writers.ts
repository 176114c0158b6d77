// Endpoints and EndpointSlices in tenants' namespaces come from Kubernetes' own controllers, which take them from pods. A
// hand-written one leads a Service, and with it an Ingress of the platform, to any address.
import { celList, type Rule } from '../../rule.ts'
import { reaping } from '../kinds/writers.ts'

const message =
  'Endpoints and EndpointSlices in a tenant’s namespace are written by Kubernetes alone: set spec.selector of the Service instead'

/** Deletion is not matched: it only takes an address away. */
export const endpointWriters: Rule = {
  name: 'endpoint-writers',
  stops: 'leading a Service or an Ingress to an address of the node, of the platform or of another tenant',
  scope: 'tenant-namespaces',
  exempts: {
    ...reaping,
    endpointControllers: {
      does: 'writes the addresses of the pods that a Service selects',
      follows: [
        {
          template: '`spec.selector`, `spec.ports` and the labels of a Service',
          judgedBy: ['service-addresses', 'reserved-metadata', 'service-proxy'],
        },
      ],
    },
  },
  matches: [
    { group: '', resources: ['endpoints'], operations: ['CREATE', 'UPDATE'] },
    { group: 'discovery.k8s.io', resources: ['endpointslices'], operations: ['CREATE', 'UPDATE'] },
  ],
  // Pods must stay reachable while the webhook is down: what Kubernetes' controllers write is not sent to it.
  webhookCondition: identities => ({
    name: 'not-by-kubernetes',
    expression: `!(request.userInfo.username in ${celList([...identities.endpointControllers, ...identities.reapers])})`,
  }),
  check: ({ username }, { endpointControllers, reapers }) =>
    endpointControllers.includes(username) || reapers.includes(username) ? undefined : message,
  policy: ({ endpointControllers, reapers }) => ({
    variables: [],
    validation: {
      expression: `request.userInfo.username in ${celList([...endpointControllers, ...reapers])}`,
      message,
    },
  }),
}
