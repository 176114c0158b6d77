// The label by which the platform takes a Service beyond a tenant's bound away from kube-proxy (docs/adr/0062-bound-on-ports-times-endpoints.md). Whoever
// could remove it would make every node program the Service again. EndpointSlices get it from their Service, by Kubernetes' controller alone: rule
// endpoint-writers.
import { serviceProxyLabel } from '../../../api/tenancy/service-proxy.ts'
import { objectAt, textAt } from '../../../lib/json/json-value.ts'
import { celList, celText, type Rule } from '../../rule.ts'

const message = `the label ${serviceProxyLabel} belongs to the platform: leave it as it is. With it a Service has more endpoints than its namespace may have, and the Events of the Service say what cures it`

function proxyOf(object: Parameters<typeof objectAt>[0]): string | undefined {
  return textAt(objectAt(object, 'metadata', 'labels'), serviceProxyLabel)
}

/** A list of the value, or of nothing: also an empty value takes a Service away. */
const proxyExpression = (object: string): string => `[?dyn(${object}).metadata.?labels[?${celText(serviceProxyLabel)}]]`

/** A Service is never made with it, also not by the platform, which makes what charts render. */
export const serviceProxy: Rule = {
  name: 'service-proxy',
  stops: 'making nodes program more endpoints than a tenant may have, by removing the label that keeps them from it',
  scope: 'tenant-namespaces',
  administratorsMay: true,
  matches: [{ group: '', resources: ['services', 'services/status'], operations: ['CREATE', 'UPDATE'] }],
  check({ operation, username, object, oldObject }, { controllers }) {
    if (operation === 'UPDATE' && controllers.includes(username)) return undefined
    return proxyOf(object) === proxyOf(oldObject) ? undefined : message
  },
  policy: ({ controllers }) => ({
    variables: [
      { name: 'proxy', expression: proxyExpression('object') },
      { name: 'proxyBefore', expression: `oldObject == null ? [] : ${proxyExpression('oldObject')}` },
    ],
    validation: {
      expression: `variables.proxy == variables.proxyBefore || (request.operation == 'UPDATE' && request.userInfo.username in ${celList(controllers)})`,
      message,
    },
  }),
}
