// How the API server is told of our webhook. Kinds that the whole cluster uses are sent only for tenants' namespaces, so that a dead
// webhook (failurePolicy Fail) stops tenants and never kube-system or the platform itself. `caBundle` is not here: the running process
// owns that field by server-side apply.
// Source: https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/
import { platformNamespace } from '../api/names.ts'
import { filledIn } from './fill-requested-by.ts'
import { type Manifest, resourceRules, tenantNamespaces } from './policies.ts'
import type { Rule } from './rule.ts'
import { rules } from './rules/index.ts'

/** Both registrations have this name. */
export const registrationName = 'sekisho-admission'
export const serviceName = 'sekisho-admission'

/** In a cluster the Service; in development and tests an address of the host. */
export type WebhookTarget = { readonly kind: 'service' } | { readonly kind: 'url'; readonly origin: string }

const apiVersion = 'admissionregistration.k8s.io/v1'
const partOf = { 'app.kubernetes.io/part-of': 'sekisho' }
const timeoutSeconds = 5

function clientConfig(target: WebhookTarget, path: string): object {
  return target.kind === 'url'
    ? { url: `${target.origin}${path}` }
    : { service: { namespace: platformNamespace, name: serviceName, path, port: 443 } }
}

function webhook(name: string, target: WebhookTarget, path: string, matching: object): object {
  return {
    name: `${name}.admission.sekisho.dev`,
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
    failurePolicy: 'Fail',
    matchPolicy: 'Equivalent',
    timeoutSeconds,
    clientConfig: clientConfig(target, path),
    ...matching,
  }
}

function validating(target: WebhookTarget): readonly object[] {
  const path = '/validate'
  const plain = rules.filter(rule => rule.scope === 'everywhere' && rule.webhookCondition === undefined)
  const inTenants = rules.filter(rule => rule.scope === 'tenant-namespaces')
  const conditional = rules.filter(rule => rule.webhookCondition !== undefined)
  return [
    webhook('kinds', target, path, { rules: rulesOf(plain) }),
    webhook('tenants', target, path, { rules: rulesOf(inTenants), namespaceSelector: tenantNamespaces }),
    ...conditional.map(rule =>
      webhook(rule.name, target, path, { rules: rulesOf([rule]), matchConditions: [rule.webhookCondition] }),
    ),
  ]
}

function rulesOf(some: readonly Rule[]): readonly object[] {
  return some.flatMap(resourceRules)
}

export function registrations(target: WebhookTarget): readonly Manifest[] {
  const metadata = { name: registrationName, labels: partOf }
  return [
    { apiVersion, kind: 'ValidatingWebhookConfiguration', metadata, webhooks: validating(target) },
    {
      apiVersion,
      kind: 'MutatingWebhookConfiguration',
      metadata,
      webhooks: [
        webhook('requested-by', target, '/mutate', {
          rules: resourceRules({ matches: filledIn }),
          reinvocationPolicy: 'IfNeeded',
        }),
      ],
    },
  ]
}

/** The Service in front of the process; the pods carry the label of the process that runs admission. */
export function admissionService(podLabels: Readonly<Record<string, string>>): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: serviceName, namespace: platformNamespace, labels: partOf },
    // A pod that starts must be able to judge its own first writes before it is ready for people.
    spec: { selector: podLabels, publishNotReadyAddresses: true, ports: [{ name: 'https', port: 443, targetPort: 9443 }] },
  }
}
