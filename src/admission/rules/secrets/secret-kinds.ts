// Secrets that make a controller disclose or accept a credential: the type that Kubernetes fills with a ServiceAccount's token,
// and the labels and annotations by which other operators of the cluster take a Secret as theirs, copy it elsewhere or read
// instructions from it.

import { objectAt, textAt } from '../../../lib/json/json-value.ts'
import { sameJson } from '../../../lib/json/same-json.ts'
import { celList, celText, type Rule } from '../../rule.ts'

const tokenType = 'kubernetes.io/service-account-token'
/** What cert-manager itself marks its Secrets with (`spec.tls.certManager` of an Application). */
const certManagerKeys = ['cert-manager.io/', 'controller.cert-manager.io/']
/** Prefixes of the keys of labels and annotations, by the operator that acts on them (SECURITY.md lists them). */
const reservedKeys = [
  'kubernetes.io/service-account.',
  'kpack.io/',
  'tekton.dev/',
  // Argo CD: credentials of clusters and repositories.
  'argocd.argoproj.io/',
  // Flux.
  'toolkit.fluxcd.io/',
  'kustomize.toolkit.fluxcd.io/',
  // Contents of issued certificates; injection of authorities.
  ...certManagerKeys,
  // Operators that copy Secrets between namespaces.
  'replicator.v1.mittwald.de/',
  'reflector.v1.k8s.emberstack.com/',
  'kubed.appscode.com/',
  'config.appscode.com/',
  // Operators that fill Secrets from elsewhere.
  'sealedsecrets.bitnami.com/',
  'external-secrets.io/',
  'reconcile.external-secrets.io/',
  'secrets.hashicorp.com/',
  'secret.fluxcd.io/',
  // Managers of clusters and of clouds.
  'cluster.x-k8s.io/',
  'crossplane.io/',
  'management.cattle.io/',
  'field.cattle.io/',
  'velero.io/',
]
const keysOfOthers = reservedKeys.filter(prefix => !certManagerKeys.includes(prefix))
const fields = ['labels', 'annotations'] as const

const message = `a Secret in a tenant’s namespace must not be of type ${tokenType}, nor carry labels or annotations of other operators (${reservedKeys.map(prefix => `${prefix}…`).join(', ')})`

/**
 * Only the controllers may write such Secrets, and cert-manager its own; an update that leaves type and annotations alone
 * passes.
 */
export const secretKinds: Rule = {
  name: 'secret-kinds',
  stops:
    'getting a ServiceAccount’s token by a Secret that Kubernetes fills, or having another operator act on, copy or fill a Secret',
  scope: 'tenant-namespaces',
  exempts: {
    certificateManagers: {
      does: 'fills Secrets with certificates, and marks them as its own',
      follows: [{ template: 'annotations of an Ingress', judgedBy: ['ingress-content'] }],
    },
  },
  matches: [{ group: '', resources: ['secrets'], operations: ['CREATE', 'UPDATE'] }],
  check({ object, oldObject, operation, username }, identities) {
    if (identities.controllers.includes(username)) return undefined
    const after = fields.map(field => objectAt(object, 'metadata', field) ?? {})
    const before = fields.map(field => objectAt(oldObject, 'metadata', field) ?? {})
    const unchanged = operation === 'UPDATE' && sameJson(after, before) && object?.['type'] === oldObject?.['type']
    if (unchanged) return undefined
    const prefixes = identities.certificateManagers.includes(username) ? keysOfOthers : reservedKeys
    const reserved = after.flatMap(Object.keys).some(key => prefixes.some(prefix => key.startsWith(prefix)))
    return textAt(object, 'type') === tokenType || reserved ? message : undefined
  },
  policy: identities => ({
    variables: [
      { name: 'after', expression: `[${fields.map(field => `dyn(object).metadata.?${field}.orValue({})`).join(', ')}]` },
      {
        name: 'prefixes',
        expression: `request.userInfo.username in ${celList(identities.certificateManagers)} ? ${celList(keysOfOthers)} : ${celList(reservedKeys)}`,
      },
      {
        name: 'unchanged',
        expression: `request.operation == 'UPDATE' && variables.after == [${fields.map(field => `dyn(oldObject).metadata.?${field}.orValue({})`).join(', ')}] && dyn(object).?type == dyn(oldObject).?type`,
      },
    ],
    validation: {
      expression: `request.userInfo.username in ${celList(identities.controllers)} || variables.unchanged || (dyn(object).?type.orValue('') != ${celText(tokenType)} && !variables.after.exists(keys, keys.exists(key, variables.prefixes.exists(prefix, key.startsWith(prefix)))))`,
      message,
    },
  }),
}
