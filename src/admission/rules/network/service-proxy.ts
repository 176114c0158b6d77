// The label by which the platform takes a Service away from kube-proxy, beyond a tenant's bound and until it is counted
// (docs/adr/0062-bound-on-ports-times-endpoints.md). Whoever could remove it would make every node program the Service; whoever
// could choose a value of their own could pass a count of former pods off as one of the present. The mutation of
// src/admission/mutations sets it, and puts it back where a request leaves it out. EndpointSlices get it from their Service, by
// Kubernetes' controller alone: rule endpoint-writers.
import { serviceProxyLabel, uncounted, uncountedSince } from '../../../api/tenancy/service-proxy.ts'
import { objectAt, textAt } from '../../../lib/json/json-value.ts'
import { celList, celText, type Rule } from '../../rule.ts'

const message = `the label ${serviceProxyLabel} belongs to the platform: leave it as it is. A new or changed Service has it until its endpoints are counted, and one with more than its namespace may have keeps it: its Events say what cures that`

function proxyOf(object: Parameters<typeof objectAt>[0]): string | undefined {
  return textAt(objectAt(object, 'metadata', 'labels'), serviceProxyLabel)
}

/** A list of the value, or of nothing: also an empty value takes a Service away. */
const proxyExpression = (object: string): string => `[?dyn(${object}).metadata.?labels[?${celText(serviceProxyLabel)}]]`

/** A Service is made with no other value, also by the platform, which makes what charts render. */
export const serviceProxy: Rule = {
  name: 'service-proxy',
  stops: 'making nodes program more endpoints than a tenant may have, by removing the label that keeps them from it',
  scope: 'tenant-namespaces',
  administratorsMay: true,
  matches: [{ group: '', resources: ['services', 'services/status'], operations: ['CREATE', 'UPDATE'] }],
  check({ operation, username, object, oldObject }, { controllers }) {
    if (operation === 'UPDATE' && controllers.includes(username)) return undefined
    const version = textAt(objectAt(oldObject, 'metadata'), 'resourceVersion') ?? ''
    const fresh = operation === 'CREATE' ? uncounted : uncountedSince(version)
    return [proxyOf(oldObject), fresh].includes(proxyOf(object)) ? undefined : message
  },
  policy: ({ controllers }) => ({
    variables: [
      { name: 'proxy', expression: proxyExpression('object') },
      { name: 'proxyBefore', expression: `oldObject == null ? [] : ${proxyExpression('oldObject')}` },
      {
        name: 'fresh',
        expression: `oldObject == null ? ${celText(uncounted)} : ${celText(uncountedSince(''))} + dyn(oldObject).metadata.?resourceVersion.orValue('')`,
      },
    ],
    validation: {
      expression: [
        'variables.proxy == variables.proxyBefore || variables.proxy == [variables.fresh]',
        ` || (request.operation == 'UPDATE' && request.userInfo.username in ${celList(controllers)})`,
      ].join(''),
      message,
    },
  }),
}
