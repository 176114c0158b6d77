// The registrations of our webhook with the API server. Built-in kinds are sent for tenants' namespaces only: while the webhook is down
// (failurePolicy Fail), writes of tenants are refused and those of kube-system and of the platform are not. `caBundle` is not here: the
// running process owns that field by server-side apply.
// Source: https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/
import { platformNamespace } from '../api/names.ts'
import type { PlatformIdentities } from './identities.ts'
import { type Manifest, resourceRules } from './policies.ts'
import type { Rule } from './rule.ts'
import { namespaceSelectors, notAdministrator, ruleSets } from './rule-sets.ts'
import { requestedBy } from './rules/kinds/requested-by.ts'

/** The name of both registrations. */
export const registrationName = 'sekisho-admission'
/** The Service in the platform namespace, and so the name in the certificate. */
export const serviceName = 'sekisho-admission'

/** The Service in a cluster; an address of the host in development and tests. */
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

/** One entry for the rules of a set whose requests are always sent, and one for each rule that sends only some. */
function validating(target: WebhookTarget, identities: PlatformIdentities): readonly object[] {
  return ruleSets.flatMap(set => {
    const entry = (name: string, some: readonly Rule[], conditions: readonly object[]): object => {
      const selector = namespaceSelectors[set.scope]
      const all = [...conditions, ...(set.administratorsMay ? [notAdministrator] : [])]
      return webhook(name, target, `/validate/${set.name}`, {
        rules: rulesOf(some),
        ...(selector === undefined ? {} : { namespaceSelector: selector }),
        ...(all.length === 0 ? {} : { matchConditions: all }),
      })
    }
    const always = set.rules.filter(rule => rule.webhookCondition === undefined)
    const sometimes = set.rules.flatMap(rule =>
      rule.webhookCondition ? [{ rule, condition: rule.webhookCondition(identities) }] : [],
    )
    return [
      ...(always.length === 0 ? [] : [entry(set.name, always, [])]),
      ...sometimes.map(({ rule, condition }) => entry(rule.name, [rule], [condition])),
    ]
  })
}

function rulesOf(some: readonly Rule[]): readonly object[] {
  return some.flatMap(resourceRules)
}

/** The ValidatingWebhookConfiguration and the MutatingWebhookConfiguration, in this order. */
export function registrations(target: WebhookTarget, identities: PlatformIdentities): readonly Manifest[] {
  const metadata = { name: registrationName, labels: partOf }
  return [
    { apiVersion, kind: 'ValidatingWebhookConfiguration', metadata, webhooks: validating(target, identities) },
    {
      apiVersion,
      kind: 'MutatingWebhookConfiguration',
      metadata,
      webhooks: [
        webhook('requested-by', target, '/mutate', {
          rules: resourceRules(requestedBy),
          reinvocationPolicy: 'IfNeeded',
        }),
      ],
    },
  ]
}

/** The Service in front of the webhook; `podLabels` select the pods that serve it. */
export function admissionService(podLabels: Readonly<Record<string, string>>): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: serviceName, namespace: platformNamespace, labels: partOf },
    // The first writes of a starting pod are admitted by that pod, which is not ready yet.
    spec: { selector: podLabels, publishNotReadyAddresses: true, ports: [{ name: 'https', port: 443, targetPort: 9443 }] },
  }
}
