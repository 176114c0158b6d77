// A Service of a tenant has an address inside the cluster and no other. `externalIPs` and the addresses of a load balancer make
// every node divert the traffic to those addresses, whoever they belong to (CVE-2020-8554); ExternalName and annotations make
// other controllers route or publish names on the tenant's behalf. The rule does not consider the user: charts and people
// follow the same rule.
import { type JsonObject, listAt, objectAt, objectsAt, textAt } from '../../../lib/json/json-value.ts'
import { sameJson } from '../../../lib/json/same-json.ts'
import type { PlatformIdentities } from '../../identities.ts'
import type { AdmissionRequest } from '../../review.ts'
import { celList, celText, type Rule } from '../../rule.ts'
import { reaping } from '../kinds/writers.ts'

/**
 * Prefixes of annotation keys by which load balancers, ingress controllers and publishers of DNS names (external-dns) act on a
 * Service.
 */
const routingAnnotations = [
  'external-dns.alpha.kubernetes.io/',
  'external-dns.kubernetes.io/',
  'service.beta.kubernetes.io/',
  'service.alpha.kubernetes.io/',
  'metallb.universe.tf/',
  'metallb.io/',
  'kube-vip.io/',
  'io.cilium/',
  'service.cilium.io/',
  'lbipam.cilium.io/',
  'cloud.google.com/',
  'networking.gke.io/',
  'networking.istio.io/',
  'alb.ingress.kubernetes.io/',
  'nginx.ingress.kubernetes.io/',
  'traefik.ingress.kubernetes.io/',
  'haproxy.org/',
  'konghq.com/',
  'getambassador.io/',
  'projectcontour.io/',
  'tailscale.com/',
]

/** Texts that must be absent or empty. */
const emptyTexts = ['externalName', 'loadBalancerIP', 'loadBalancerClass'] as const

const message =
  'a Service in a tenant’s namespace must be of type ClusterIP, without externalIPs, externalName, loadBalancerIP, loadBalancerClass, node ports and annotations for load balancers, ingress controllers or external-dns: list domains in an Application to be reached from outside'

function annotationsOf(object: JsonObject | undefined): JsonObject {
  return objectAt(object, 'metadata', 'annotations') ?? {}
}

function hasForeignAddress(object: JsonObject | undefined): boolean {
  const spec = objectAt(object, 'spec')
  return (
    (textAt(spec, 'type') ?? 'ClusterIP') !== 'ClusterIP' ||
    listAt(spec, 'externalIPs').length > 0 ||
    emptyTexts.some(field => (textAt(spec, field) ?? '') !== '') ||
    objectsAt(spec, 'ports').some(port => (port['nodePort'] ?? 0) !== 0) ||
    listAt(objectAt(object, 'status', 'loadBalancer'), 'ingress').length > 0 ||
    Object.keys(annotationsOf(object)).some(key => routingAnnotations.some(prefix => key.startsWith(prefix)))
  )
}

/** A Service older than the rule can still end: finalizers are removed from it, and the garbage collector forgets its owner. */
function isWindingUp({ object, oldObject, username }: AdmissionRequest, identities: PlatformIdentities): boolean {
  const terminating = textAt(objectAt(object, 'metadata'), 'deletionTimestamp') !== undefined
  return (
    (terminating || identities.reapers.includes(username)) &&
    sameJson(object?.['spec'], oldObject?.['spec']) &&
    sameJson(object?.['status'], oldObject?.['status']) &&
    sameJson(annotationsOf(object), annotationsOf(oldObject))
  )
}

/** Also Services that already exist: an update that keeps what is forbidden is refused, one that removes it passes. */
export const serviceAddresses: Rule = {
  name: 'service-addresses',
  stops: 'diverting the traffic of an address of the platform, of GitHub or of another tenant to a pod of one’s own',
  scope: 'tenant-namespaces',
  exempts: reaping,
  matches: [{ group: '', resources: ['services', 'services/status'], operations: ['CREATE', 'UPDATE'] }],
  check(request, identities) {
    if (!hasForeignAddress(request.object)) return undefined
    return request.operation === 'UPDATE' && isWindingUp(request, identities) ? undefined : message
  },
  policy: identities => ({
    variables: [
      { name: 'spec', expression: 'dyn(object).?spec.orValue({})' },
      { name: 'annotations', expression: 'dyn(object).metadata.?annotations.orValue({})' },
      {
        name: 'windingUp',
        expression: [
          `request.operation == 'UPDATE' && (has(object.metadata.deletionTimestamp) || request.userInfo.username in ${celList(identities.reapers)})`,
          ' && dyn(object).?spec == dyn(oldObject).?spec && dyn(object).?status == dyn(oldObject).?status',
          ' && variables.annotations == dyn(oldObject).metadata.?annotations.orValue({})',
        ].join(''),
      },
    ],
    validation: {
      expression: [
        'variables.windingUp || (',
        `variables.spec.?type.orValue('ClusterIP') == 'ClusterIP'`,
        ` && variables.spec.?externalIPs.orValue([]).size() == 0`,
        ...emptyTexts.map(field => ` && variables.spec.?${field}.orValue(${celText('')}) == ''`),
        ' && variables.spec.?ports.orValue([]).all(p, p.?nodePort.orValue(0) == 0)',
        ' && dyn(object).?status.?loadBalancer.?ingress.orValue([]).size() == 0',
        ` && !variables.annotations.exists(key, ${celList(routingAnnotations)}.exists(prefix, key.startsWith(prefix)))`,
        ')',
      ].join(''),
      message,
    },
  }),
}
