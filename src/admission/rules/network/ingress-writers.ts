// Ingresses in tenants' namespaces: an Ingress makes the cluster's ingress controller serve a host name, and its annotations
// configure that controller. The platform makes them, from charts, for hosts that the tenant may use
// (src/controllers/application/domains/hosts.ts).
import { labels } from '../../../api/names.ts'
import { type JsonObject, objectAt, objectsAt, textAt } from '../../../lib/json/json-value.ts'
import type { PlatformIdentities } from '../../identities.ts'
import type { AdmissionRequest } from '../../review.ts'
import { celList, celText, type Rule } from '../../rule.ts'
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
  exempts: {
    kubernetesPrefixes: { does: 'changes owners and finalizers while a namespace or an Application ends', follows: [] },
  },
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

const contentMessage = `an Ingress in a tenant’s namespace must name a host without * in every rule, have no defaultBackend, and carry annotations ${annotationPrefixes.map(prefix => `${prefix}…`).join(', ')} only; only the controllers set others, on an Ingress that redirects (spec.redirects of an Application)`

function isPlain(object: JsonObject | undefined): boolean {
  const spec = objectAt(object, 'spec')
  const hosts = objectsAt(spec, 'rules').map(rule => textAt(rule, 'host') ?? '')
  return spec?.['defaultBackend'] === undefined && hosts.every(host => host !== '' && !host.startsWith('*'))
}

const annotationsOf = (object: JsonObject | undefined): JsonObject => objectAt(object, 'metadata', 'annotations') ?? {}

/**
 * An Ingress that redirects carries what a platform admin configured for the ingress controller. The controllers make it
 * themselves and refuse the label to charts (src/controllers/application/rendering); whoever else changes it, such as the
 * garbage collector, leaves these annotations as they are.
 */
function hasAllowedAnnotations({ object, oldObject, username }: AdmissionRequest, { controllers }: PlatformIdentities): boolean {
  const redirects = objectAt(object, 'metadata', 'labels')?.[labels.redirect] === 'true'
  const before = annotationsOf(oldObject)
  return Object.entries(annotationsOf(object)).every(
    ([key, value]) =>
      annotationPrefixes.some(prefix => key.startsWith(prefix)) ||
      (redirects && (controllers.includes(username) || before[key] === value)),
  )
}

/** Whoever writes it: charts are code of the platform, but what they render may contain what a tenant wrote. */
export const ingressContent: Rule = {
  name: 'ingress-content',
  stops: 'an Ingress that takes the requests of every host, or that puts configuration into the ingress controller',
  scope: 'application-namespaces',
  matches: [match],
  check: (request, identities) =>
    isPlain(request.object) && hasAllowedAnnotations(request, identities) ? undefined : contentMessage,
  policy: ({ controllers }) => ({
    variables: [
      { name: 'redirects', expression: `object.metadata.?labels[?${celText(labels.redirect)}].orValue('') == 'true'` },
      { name: 'byControllers', expression: `request.userInfo.username in ${celList(controllers)}` },
      { name: 'annotations', expression: 'object.metadata.?annotations.orValue({})' },
      { name: 'before', expression: 'oldObject == null ? {} : oldObject.metadata.?annotations.orValue({})' },
    ],
    validation: {
      expression: [
        '!has(object.spec.defaultBackend)',
        " && object.spec.?rules.orValue([]).all(r, r.?host.orValue('') != '' && !r.?host.orValue('').startsWith('*'))",
        ` && variables.annotations.all(key, ${celList(annotationPrefixes)}.exists(prefix, key.startsWith(prefix))`,
        ' || (variables.redirects && (variables.byControllers || (key in variables.before && variables.before[key] == variables.annotations[key]))))',
      ].join(''),
      message: contentMessage,
    },
  }),
}
