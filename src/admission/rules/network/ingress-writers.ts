// Ingresses in tenants' namespaces: an Ingress makes the cluster's ingress controller serve a host name, and its annotations configure that
// controller. The platform makes them, from charts, for hosts that the tenant may use (src/controllers/application/hosts.ts).
import { type JsonObject, objectAt, objectsAt, textAt } from '../../../lib/json/json-value.ts'
import { celList, type Rule } from '../../rule.ts'
import { isKubernetes, isKubernetesExpression, isPlatform, isPlatformExpression } from '../kinds/writers.ts'

const match = { group: 'networking.k8s.io', resources: ['ingresses'], operations: ['CREATE', 'UPDATE'] } as const

const writersMessage =
  'Ingresses in a tenant’s namespace are written by the platform: list the host names in spec.domains of an Application'

/** The platform writes; Kubernetes' reapers remove owners and finalizers; platform admins repair. */
export const ingressWriters: Rule = {
  name: 'ingress-writers',
  stops: 'serving a host name of the platform or of another tenant, or configuring the ingress controller by annotations',
  scope: 'application-namespaces',
  administratorsMay: true,
  matches: [match],
  check: (request, identities) =>
    isPlatform(request, identities) || isKubernetes(request, identities) ? undefined : writersMessage,
  policy: identities => ({
    variables: [],
    validation: {
      expression: `${isPlatformExpression(identities)} || ${isKubernetesExpression(identities)}`,
      message: writersMessage,
    },
  }),
}

/** What a chart may set on an Ingress: nothing that names another object, a server to authenticate at, or configuration text. */
const annotationPrefixes = [
  'sekisho.dev/',
  'kubectl.kubernetes.io/',
  'cert-manager.io/',
  'kubernetes.io/tls-acme',
  'nginx.ingress.kubernetes.io/proxy-body-size',
  'nginx.ingress.kubernetes.io/proxy-connect-timeout',
  'nginx.ingress.kubernetes.io/proxy-read-timeout',
  'nginx.ingress.kubernetes.io/proxy-send-timeout',
  'nginx.ingress.kubernetes.io/ssl-redirect',
  'nginx.ingress.kubernetes.io/force-ssl-redirect',
  'nginx.ingress.kubernetes.io/limit-rps',
  'nginx.ingress.kubernetes.io/limit-connections',
  'traefik.ingress.kubernetes.io/router.entrypoints',
  'traefik.ingress.kubernetes.io/router.tls',
]

const contentMessage = `an Ingress in a tenant’s namespace must name a host without * in every rule, have no defaultBackend, and carry annotations ${annotationPrefixes.map(prefix => `${prefix}…`).join(', ')} only`

function isPlain(object: JsonObject | undefined): boolean {
  const spec = objectAt(object, 'spec')
  const hosts = objectsAt(spec, 'rules').map(rule => textAt(rule, 'host') ?? '')
  return (
    spec?.['defaultBackend'] === undefined &&
    hosts.every(host => host !== '' && !host.startsWith('*')) &&
    Object.keys(objectAt(object, 'metadata', 'annotations') ?? {}).every(key =>
      annotationPrefixes.some(prefix => key.startsWith(prefix)),
    )
  )
}

/** Whoever writes it: charts are code of the platform, but what they render may contain what a tenant wrote. */
export const ingressContent: Rule = {
  name: 'ingress-content',
  stops: 'an Ingress that takes the requests of every host, or that puts configuration into the ingress controller',
  scope: 'application-namespaces',
  matches: [match],
  check: ({ object }) => (isPlain(object) ? undefined : contentMessage),
  policy: () => ({
    variables: [],
    validation: {
      expression: [
        '!has(object.spec.defaultBackend)',
        " && object.spec.?rules.orValue([]).all(r, r.?host.orValue('') != '' && !r.?host.orValue('').startsWith('*'))",
        ` && object.metadata.?annotations.orValue({}).all(key, ${celList(annotationPrefixes)}.exists(prefix, key.startsWith(prefix)))`,
      ].join(''),
      message: contentMessage,
    },
  }),
}
