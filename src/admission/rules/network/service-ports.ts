// How many ports a Service of a tenant has. Every node programs each port of a Service for each of its endpoints, for all
// tenants together: a Service with thousands of ports keeps new Services of everybody from working for minutes
// (docs/adr/0058-ports-of-a-service.md).
import { maxServicePorts as maxPorts } from '../../../api/tenancy/service-proxy.ts'
import { objectAt, objectsAt } from '../../../lib/json/json-value.ts'
import { sameJson } from '../../../lib/json/same-json.ts'
import type { Rule } from '../../rule.ts'

const message = `spec.ports of a Service in a tenant’s namespace must have at most ${maxPorts} ports: divide them among several Services with the same selector. A Service that has more may lose ports and be relabelled; its spec does not change otherwise`

/** Also what Kubernetes and the platform write. An older Service with more ports can be relabelled, reduced and deleted. */
export const servicePorts: Rule = {
  name: 'service-ports',
  stops: 'making every node program so many ports that new Services of other tenants wait for minutes',
  scope: 'tenant-namespaces',
  matches: [{ group: '', resources: ['services'], operations: ['CREATE', 'UPDATE'] }],
  check({ operation, object, oldObject }) {
    const [spec, oldSpec] = [objectAt(object, 'spec'), objectAt(oldObject, 'spec')]
    const ports = objectsAt(spec, 'ports').length
    if (ports <= maxPorts) return undefined
    const shrinks = ports < objectsAt(oldSpec, 'ports').length || sameJson(spec, oldSpec)
    return operation === 'UPDATE' && shrinks ? undefined : message
  },
  policy: () => ({
    variables: [
      { name: 'ports', expression: 'dyn(object).?spec.?ports.orValue([]).size()' },
      { name: 'portsBefore', expression: 'oldObject == null ? 0 : dyn(oldObject).?spec.?ports.orValue([]).size()' },
    ],
    validation: {
      expression: [
        `variables.ports <= ${maxPorts}`,
        ` || (request.operation == 'UPDATE' && (variables.ports < variables.portsBefore || dyn(object).?spec == dyn(oldObject).?spec))`,
      ].join(''),
      message,
    },
  }),
}
