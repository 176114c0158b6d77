// The rules as ValidatingAdmissionPolicies with their bindings: they hold while the platform is down, and on clusters that do not allow
// webhooks. Pure; the result is committed under deploy/policies.
// Source: https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/
import type { PlatformIdentities } from './identities.ts'
import { administers, type Rule, type Validation } from './rule.ts'
import { namespaceSelectors } from './rule-sets.ts'
import { rules } from './rules/index.ts'

/** A Kubernetes object as it is written to a file. */
export type Manifest = {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
} & Readonly<Record<string, unknown>>

const apiVersion = 'admissionregistration.k8s.io/v1'
const partOf = { 'app.kubernetes.io/part-of': 'sekisho' }

/** File names below deploy/policies and the objects in each file. */
export function policyFiles(identities: PlatformIdentities): ReadonlyMap<string, readonly Manifest[]> {
  return new Map(rules.map(rule => [`${rule.name}.yaml`, [policy(rule, identities), binding(rule)]]))
}

/** The matches of a rule in the form that policies and webhook registrations share. */
export function resourceRules(rule: Pick<Rule, 'matches'>): readonly Readonly<Record<string, unknown>>[] {
  return rule.matches.map(match => ({
    apiGroups: [match.group],
    apiVersions: ['*'],
    resources: match.resources,
    operations: match.operations,
    scope: '*',
  }))
}

function policy(rule: Rule, identities: PlatformIdentities): Manifest {
  const { variables, validation } = rule.policy(identities)
  const selector = namespaceSelectors[rule.scope]
  return {
    apiVersion,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: policyName(rule), labels: partOf, annotations: { 'sekisho.dev/stops': rule.stops } },
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: {
        matchPolicy: 'Equivalent',
        ...(selector === undefined ? {} : { namespaceSelector: selector }),
        resourceRules: resourceRules(rule),
      },
      ...(variables.length === 0 ? {} : { variables }),
      // Without this reason the API server answers 422 instead of 403.
      validations: [{ ...unlessAdministrator(rule, validation), reason: 'Forbidden' }],
    },
  }
}

/** The API server is asked last: asking costs more than everything else in a rule. */
function unlessAdministrator(rule: Rule, validation: Validation): Validation {
  return rule.administratorsMay ? { ...validation, expression: `(${validation.expression}) || ${administers}` } : validation
}

function binding(rule: Rule): Manifest {
  return {
    apiVersion,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: policyName(rule), labels: partOf },
    spec: { policyName: policyName(rule), validationActions: ['Deny'] },
  }
}

function policyName(rule: Rule): string {
  return `sekisho-${rule.name}`
}
