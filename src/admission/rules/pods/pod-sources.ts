// What a pod is given by others than the platform: devices of drivers (`resourceClaims`), certificates that a signer of the
// cluster makes for the pod, and bundles of authorities. No application here needs them, drivers and signers act with rights of
// their own, and no quota counts what they give.
import { type JsonObject, objectAt, objectsAt } from '../../../lib/json/json-value.ts'
import { sameJson } from '../../../lib/json/same-json.ts'
import type { Rule } from '../../rule.ts'
import { podMatches, podSpecOf, podSpecVariables, samePodSpec } from './pod-spec.ts'

const message =
  'pods in a tenant’s namespace must not set resourceClaims, or projected volumes with podCertificate or clusterTrustBundle: remove these fields'

function asksOthers(spec: JsonObject): boolean {
  const sources = objectsAt(spec, 'volumes').flatMap(volume => objectsAt(objectAt(volume, 'projected'), 'sources'))
  return (
    objectsAt(spec, 'resourceClaims').length > 0 ||
    sources.some(source => source['podCertificate'] !== undefined || source['clusterTrustBundle'] !== undefined)
  )
}

/** Of an existing pod these fields cannot change. */
export const podSources: Rule = {
  name: 'pod-sources',
  stops: 'taking devices from drivers of the cluster, or certificates from its signers',
  scope: 'tenant-namespaces',
  matches: podMatches,
  check({ resource, operation, object, oldObject }) {
    const spec = podSpecOf(resource, object)
    if (spec === undefined || (operation === 'UPDATE' && sameJson(spec, podSpecOf(resource, oldObject)))) return undefined
    if (resource === 'pods' && operation === 'UPDATE') return undefined
    return asksOthers(spec) ? message : undefined
  },
  policy: () => ({
    variables: podSpecVariables,
    validation: {
      expression: [
        samePodSpec,
        " || (variables.r == 'pods' && request.operation == 'UPDATE')",
        ' || (variables.spec.?resourceClaims.orValue([]).size() == 0',
        ' && variables.spec.?volumes.orValue([]).all(v, v.?projected.?sources.orValue([])',
        '.all(s, !s.?podCertificate.hasValue() && !s.?clusterTrustBundle.hasValue())))',
      ].join(''),
      message,
    },
  }),
}
